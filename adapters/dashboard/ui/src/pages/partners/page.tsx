import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once, type Schemas } from "../../api/client"
import { mergePatch } from "../../kit/format"
import { Actions, Confirm, Empty, Failure, Field, Form, Modal, Once, Pill, Table, Time } from "../../kit/parts"
import { useMay, usePages, useStale } from "../../kit/queries"
import { words } from "../../words/en"

type Partner = Schemas["Partner"]
type Doing = { what: "rotate" | "revoke"; to: Partner; key: string }

export function Partners() {
  const [editing, setEditing] = useState<Partner | "new">()
  const [doing, setDoing] = useState<Doing>()
  const [value, setValue] = useState<string>()
  const admin = useMay("admin")
  const list = usePages<Partner>(["partners"], (cursor) =>
    ask(api.GET("/v1/partners", { params: { query: { cursor } } })),
  )
  return (
    <>
      <div className="heading">
        <h1>{words.partners.title}</h1>
        {admin && (
          <button type="button" className="button primary" onClick={() => setEditing("new")}>
            {words.partners.create}
          </button>
        )}
      </div>
      <p className="muted">{words.partners.text}</p>
      <Failure error={list.error} retry={list.refetch} />
      {list.rows?.length === 0 ? (
        <Empty title={words.partners.empty} text={words.partners.emptyText} />
      ) : (
        (list.rows || list.isLoading) && (
          <Table
            label={words.partners.title}
            rows={list.rows}
            id={(p) => p.id}
            columns={[
              { head: words.partners.name, cell: (p) => p.name },
              {
                head: words.webhooks.state,
                cell: (p) => (
                  <Pill mood={p.revokedAt ? "quiet" : "good"}>
                    {p.revokedAt ? words.tokens.revoked : words.tokens.live}
                  </Pill>
                ),
              },
              { head: words.partners.origins, cell: (p) => p.origins.join(", ") },
              { head: words.partners.key, cell: (p) => <code className="still">{p.hint}</code> },
              { head: words.partners.used, cell: (p) => <Time at={p.lastUsedAt} /> },
              { head: words.partners.made, cell: (p) => <Time at={p.createdAt} /> },
            ]}
            actions={(p) => (
              <Actions
                of={p.name}
                actions={
                  p.revokedAt
                    ? []
                    : [
                        { name: words.partners.edit, run: () => setEditing(p) },
                        { name: words.partners.rotate, run: () => setDoing({ what: "rotate", to: p, key: once() }) },
                        {
                          name: words.partners.revoke,
                          danger: true,
                          run: () => setDoing({ what: "revoke", to: p, key: once() }),
                        },
                      ]
                }
              />
            )}
          />
        )
      )}
      {list.hasNextPage && (
        <button type="button" className="button" onClick={() => list.fetchNextPage()} disabled={list.isFetching}>
          {words.loadMore}
        </button>
      )}
      {editing && <Edit of={editing} onClose={() => setEditing(undefined)} onMade={setValue} />}
      {doing && <Do doing={doing} onClose={() => setDoing(undefined)} onMade={setValue} />}
      <Once title={words.partners.keyTitle} value={value} onClose={() => setValue(undefined)} />
    </>
  )
}

interface Making {
  onClose: () => void
  onMade: (key: string | undefined) => void
}

function Edit({ of, onClose, onMade }: Making & { of: Partner | "new" }) {
  const stale = useStale("partners")
  const [key] = useState(once)
  const former = of === "new" ? { name: "", origins: [] } : { name: of.name, origins: of.origins }
  const save = useMutation({
    mutationFn: async (data: FormData) => {
      const sent = {
        name: String(data.get("name")),
        origins: String(data.get("origins"))
          .split("\n")
          .map((o) => o.trim())
          .filter(Boolean),
      }
      if (of === "new") {
        const made = await ask(api.POST("/v1/partners", { params: { header: { "Idempotency-Key": key } }, body: sent }))
        return made.data.key
      }
      await ask(api.PATCH("/v1/partners/{id}", { params: { path: { id: of.id } }, body: mergePatch(former, sent) }))
    },
    onSuccess: async (made) => {
      onClose()
      onMade(made)
      await stale()
    },
  })
  return (
    <Modal title={of === "new" ? words.partners.create : words.partners.edit} open onClose={onClose}>
      <Form
        submit={of === "new" ? words.partners.create : words.save}
        busy={save.isPending}
        error={save.error}
        onSubmit={save.mutate}
        onCancel={onClose}
      >
        <Field label={words.partners.name} name="name" error={save.error}>
          {(field) => <input {...field} className="input" defaultValue={former.name} autoComplete="off" />}
        </Field>
        <Field label={words.partners.origins} name="origins" help={words.partners.originsHelp} error={save.error}>
          {(field) => <textarea {...field} className="input mono" defaultValue={former.origins.join("\n")} />}
        </Field>
      </Form>
    </Modal>
  )
}

function Do({ doing: { what, to, key }, onClose, onMade }: Making & { doing: Doing }) {
  const stale = useStale("partners")
  const run = useMutation({
    mutationFn: () => {
      const path = { id: to.id }
      return what === "rotate"
        ? ask(api.POST("/v1/partners/{id}/rotate", { params: { path, header: { "Idempotency-Key": key } }, body: {} }))
        : ask(api.DELETE("/v1/partners/{id}", { params: { path } }))
    },
    onSuccess: async ({ data }) => {
      onClose()
      onMade(data.key)
      await stale()
    },
  })
  const rotates = what === "rotate"
  return (
    <Confirm
      title={rotates ? words.partners.rotateTitle(to.name) : words.partners.revokeTitle(to.name)}
      text={rotates ? words.partners.rotateText : words.partners.revokeText}
      submit={words.partners[what]}
      busy={run.isPending}
      error={run.error}
      onSubmit={run.mutate}
      onClose={onClose}
    />
  )
}
