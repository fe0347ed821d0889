import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once, type Schemas } from "../../api/client"
import { More } from "../../kit/page"
import { Actions, Close, Failure, Modal, type Mood, Pill, Table, Time } from "../../kit/parts"
import { usePages, useStale } from "../../kit/queries"
import { Json } from "../../kit/tree"
import { words } from "../../words/en"

type Delivery = Schemas["Delivery"]

const looked = 20 // how many deliveries of an endpoint tell how it is

// Health tells what became of the last deliveries to an endpoint.
export function Health({ of }: { of: Schemas["Webhook"] }) {
  const query = useQuery({
    queryKey: ["deliveries", of.id, "health"],
    queryFn: () =>
      ask(api.GET("/v1/webhooks/{id}/deliveries", { params: { path: { id: of.id }, query: { limit: looked } } })),
    refetchInterval: 30_000,
  })
  const last = query.data?.data
  if (!last) return query.error ? <span className="muted">{words.figures.none}</span> : null
  if (!last.length) return <span className="muted">{words.webhooks.nothingSent}</span>
  const failed = last.filter((one) => one.status === "failed").length
  const waiting = last.filter((one) => one.status === "pending" && one.attempts.length > 0).length
  if (failed) return <Pill mood="bad">{words.webhooks.someFailed(failed, last.length)}</Pill>
  if (waiting) return <Pill mood="warning">{words.webhooks.someWait(waiting)}</Pill>
  const arrived = last.filter((one) => one.status === "succeeded").length
  return arrived ? (
    <Pill mood="good">{words.webhooks.allArrived(arrived)}</Pill>
  ) : (
    <Pill mood="quiet">{words.webhooks.states.pending}</Pill>
  )
}

const moods: Record<Delivery["status"], Mood> = { pending: "quiet", succeeded: "good", failed: "bad" }

function answer({ attempts }: Delivery): string {
  const last = attempts.at(-1)
  if (!last) return words.figures.none
  return last.status === null
    ? words.webhooks.broke(last.error ?? "", last.latencyMs)
    : words.webhooks.answered(last.status, last.latencyMs)
}

// Deliveries are those to one endpoint, the newest first.
export function Deliveries({ of }: { of: string }) {
  const [open, setOpen] = useState<Delivery>()
  const stale = useStale("deliveries")
  const list = usePages<Delivery>(["deliveries", of], (cursor) =>
    ask(api.GET("/v1/webhooks/{id}/deliveries", { params: { path: { id: of }, query: { cursor } } })),
  )
  const again = useMutation({
    mutationFn: (deliveryId: string) =>
      ask(
        api.POST("/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver", {
          params: { path: { id: of, deliveryId }, header: { "Idempotency-Key": once() } },
        }),
      ),
    onSuccess: stale,
  })
  return (
    <section className="stack" aria-label={words.webhooks.deliveries}>
      <h2>{words.webhooks.deliveries}</h2>
      <Failure error={list.error ?? again.error} retry={list.error ? list.refetch : undefined} />
      {list.rows?.length === 0 ? (
        <p className="muted">{words.webhooks.noDeliveries}</p>
      ) : (
        (list.rows || list.isLoading) && (
          <Table
            label={words.webhooks.deliveries}
            rows={list.rows}
            id={(d) => d.id}
            columns={[
              { head: words.webhooks.event, cell: (d) => <code>{d.type}</code> },
              {
                head: words.webhooks.state,
                cell: (d) => <Pill mood={moods[d.status]}>{words.webhooks.states[d.status]}</Pill>,
              },
              { head: words.webhooks.attempts, number: true, cell: (d) => d.attempts.length },
              { head: words.webhooks.answer, cell: answer },
              { head: words.webhooks.at, cell: (d) => <Time at={d.createdAt} /> },
              { head: words.webhooks.next, cell: (d) => d.nextAttemptAt && <Time at={d.nextAttemptAt} /> },
            ]}
            actions={(d) => (
              <Actions
                of={d.type}
                actions={[
                  { name: words.webhooks.body, run: () => setOpen(d) },
                  { name: words.webhooks.again, run: () => again.mutate(d.id) },
                ]}
              />
            )}
          />
        )
      )}
      <More of={list} />
      {open && <Body of={open} onClose={() => setOpen(undefined)} />}
    </section>
  )
}

// Body is what is sent with a delivery.
function Body({ of, onClose }: { of: Delivery; onClose: () => void }) {
  const query = useQuery({
    queryKey: ["deliveries", of.webhookId, "body", of.id],
    queryFn: () =>
      ask(
        api.GET("/v1/webhooks/{id}/deliveries/{deliveryId}", {
          params: { path: { id: of.webhookId, deliveryId: of.id } },
        }),
      ),
  })
  const body = query.data?.data.body
  return (
    <Modal title={words.webhooks.bodyTitle(of.type)} open onClose={onClose}>
      <Failure error={query.error} retry={query.refetch} />
      {query.isLoading && <p className="muted">{words.loading}</p>}
      {query.data && (body ? <Json of={body} /> : <p className="muted">{words.webhooks.noBody}</p>)}
      <Close onClose={onClose} />
    </Modal>
  )
}
