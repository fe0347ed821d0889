import { useMutation } from "@tanstack/react-query"
import { Link, useSearch } from "@tanstack/react-router"
import { useState } from "react"
import { api, ask, once, type Schemas } from "../../api/client"
import { Actions, Confirm, Empty, Failure, Field, Form, Modal, Once, Pill, Table } from "../../kit/parts"
import { useMay, usePages, useStale } from "../../kit/queries"
import { words } from "../../words/en"
import { Deliveries, Health } from "./deliveries"

type Webhook = Schemas["Webhook"]
type Doing = { what: "rotate" | "remove"; to: Webhook; key: string }

export function Webhooks() {
  const { open } = useSearch({ from: "/shell/instance/webhooks" })
  const [making, setMaking] = useState(false)
  const [doing, setDoing] = useState<Doing>()
  const [secret, setSecret] = useState<string>()
  const admin = useMay("admin")
  const stale = useStale("webhooks", "deliveries")
  const list = usePages<Webhook>(["webhooks"], (cursor) =>
    ask(api.GET("/v1/webhooks", { params: { query: { cursor } } })),
  )
  const turn = useMutation({
    mutationFn: (to: Webhook) =>
      ask(api.PATCH("/v1/webhooks/{id}", { params: { path: { id: to.id } }, body: { enabled: !to.enabled } })),
    onSuccess: stale,
  })
  const test = useMutation({
    mutationFn: (to: Webhook) =>
      ask(
        api.POST("/v1/webhooks/{id}/test", { params: { path: { id: to.id }, header: { "Idempotency-Key": once() } } }),
      ),
    onSuccess: stale,
  })
  return (
    <>
      <div className="heading">
        <h1>{words.webhooks.title}</h1>
        {admin && (
          <button type="button" className="button primary" onClick={() => setMaking(true)}>
            {words.webhooks.create}
          </button>
        )}
      </div>
      <p className="muted">{words.webhooks.text}</p>
      <p role="status" hidden={!test.isSuccess}>
        {test.isSuccess && words.webhooks.tested}
      </p>
      <Failure error={list.error ?? turn.error ?? test.error} retry={list.error ? list.refetch : undefined} />
      {list.rows?.length === 0 ? (
        <Empty title={words.webhooks.empty} text={words.webhooks.emptyText} />
      ) : (
        (list.rows || list.isLoading) && (
          <Table
            label={words.webhooks.title}
            rows={list.rows}
            id={(w) => w.id}
            columns={[
              {
                head: words.webhooks.url,
                cell: (w) => (
                  <Link to="/instance/webhooks" search={{ open: w.id }}>
                    {w.url}
                  </Link>
                ),
              },
              {
                head: words.webhooks.state,
                cell: (w) => (
                  <Pill mood={w.enabled ? "good" : w.disabledReason ? "bad" : "quiet"}>
                    {w.enabled ? words.webhooks.enabled : words.webhooks.disabled}
                  </Pill>
                ),
              },
              { head: words.webhooks.health, cell: (w) => <Health of={w} /> },
              { head: words.webhooks.events, cell: (w) => <code>{w.events.join(", ")}</code> },
              { head: words.webhooks.description, cell: (w) => w.disabledReason ?? w.description },
            ]}
            actions={(w) => (
              <Actions
                of={w.url}
                actions={[
                  { name: words.webhooks.test, run: () => test.mutate(w) },
                  { name: w.enabled ? words.webhooks.disable : words.webhooks.enable, run: () => turn.mutate(w) },
                  { name: words.webhooks.rotate, run: () => setDoing({ what: "rotate", to: w, key: once() }) },
                  {
                    name: words.webhooks.remove,
                    danger: true,
                    run: () => setDoing({ what: "remove", to: w, key: once() }),
                  },
                ]}
              />
            )}
          />
        )
      )}
      {open && <Deliveries of={open} />}
      {making && <NewWebhook onClose={() => setMaking(false)} onMade={setSecret} />}
      {doing && <Do doing={doing} onClose={() => setDoing(undefined)} onMade={setSecret} />}
      <Once title={words.webhooks.secretTitle} value={secret} onClose={() => setSecret(undefined)} />
    </>
  )
}

interface Making {
  onClose: () => void
  onMade: (secret: string | undefined) => void
}

function NewWebhook({ onClose, onMade }: Making) {
  const stale = useStale("webhooks")
  const [key] = useState(once)
  const make = useMutation({
    mutationFn: (data: FormData) =>
      ask(
        api.POST("/v1/webhooks", {
          params: { header: { "Idempotency-Key": key } },
          body: {
            url: String(data.get("url")).trim(),
            events: String(data.get("events"))
              .split(",")
              .map((e) => e.trim())
              .filter(Boolean),
            description: String(data.get("description")),
          },
        }),
      ),
    onSuccess: async ({ data }) => {
      onClose()
      onMade(data.secret)
      await stale()
    },
  })
  return (
    <Modal title={words.webhooks.create} open onClose={onClose}>
      <Form
        submit={words.webhooks.create}
        busy={make.isPending}
        error={make.error}
        onSubmit={make.mutate}
        onCancel={onClose}
      >
        <Field label={words.webhooks.url} name="url" error={make.error}>
          {(field) => <input {...field} className="input" type="url" autoComplete="off" />}
        </Field>
        <Field label={words.webhooks.events} name="events" help={words.webhooks.eventsHelp} error={make.error}>
          {(field) => <input {...field} className="input mono" defaultValue="*" autoComplete="off" />}
        </Field>
        <Field label={words.webhooks.description} name="description" error={make.error}>
          {(field) => <input {...field} className="input" autoComplete="off" />}
        </Field>
      </Form>
    </Modal>
  )
}

function Do({ doing: { what, to, key }, onClose, onMade }: Making & { doing: Doing }) {
  const stale = useStale("webhooks")
  const run = useMutation({
    mutationFn: () => {
      const path = { id: to.id }
      return what === "rotate"
        ? ask(api.POST("/v1/webhooks/{id}/rotate-secret", { params: { path, header: { "Idempotency-Key": key } } }))
        : ask(api.DELETE("/v1/webhooks/{id}", { params: { path } }))
    },
    onSuccess: async ({ data }) => {
      onClose()
      onMade(data.secret)
      await stale()
    },
  })
  const rotates = what === "rotate"
  return (
    <Confirm
      title={rotates ? words.webhooks.rotateTitle : words.webhooks.removeTitle(to.url)}
      text={rotates ? words.webhooks.rotateText : words.webhooks.removeText}
      submit={words.webhooks[what]}
      busy={run.isPending}
      error={run.error}
      onSubmit={run.mutate}
      onClose={onClose}
    />
  )
}
