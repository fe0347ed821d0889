import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once, type Schemas } from "../../api/client"
import { mergePatch, whole } from "../../kit/format"
import { Actions, Confirm, Empty, Failure, Field, Form, Modal, Once, Pill, Table, Time } from "../../kit/parts"
import { useMay, usePages, useStale } from "../../kit/queries"
import { words } from "../../words/en"

type Partner = Schemas["Partner"]
type Doing = { what: "rotate" | "revoke"; to: Partner; key: string }

export function Partners() {
  const [editing, setEditing] = useState<Partner | "new">()
  const [doing, setDoing] = useState<Doing>()
  const [value, setValue] = useState<string>()
  const [unknown, setUnknown] = useState<string[]>([])
  const admin = useMay("admin")
  const list = usePages<Partner>(["partners"], (cursor) =>
    ask(api.GET("/v1/partners", { params: { query: { cursor } } })),
  )
  const saved = (partner: Partner) => {
    setValue(partner.key)
    setUnknown(partner.unknown ?? [])
  }
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
      <p className="notice" role="status" hidden={unknown.length === 0}>
        {words.partners.unknown(unknown.join(", "))}
      </p>
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
              { head: words.webhooks.state, cell: (p) => <State of={p} /> },
              { head: words.partners.sees, cell: sees },
              { head: words.partners.origins, cell: (p) => p.origins.join(", ") },
              { head: words.partners.key, cell: (p) => <code className="still">{p.hint}</code> },
              { head: words.partners.requests, number: true, cell: (p) => whole(p.requests) },
              { head: words.partners.leadsRead, number: true, cell: (p) => whole(p.leadsRead) },
              { head: words.partners.used, cell: (p) => <Time at={p.lastUsedAt} /> },
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
      {editing && <Edit of={editing} onClose={() => setEditing(undefined)} onSaved={saved} />}
      {doing && <Do doing={doing} onClose={() => setDoing(undefined)} onMade={setValue} />}
      <Once title={words.partners.keyTitle} value={value} onClose={() => setValue(undefined)} />
    </>
  )
}

const state = (p: Partner) =>
  p.revokedAt ? "revoked" : p.expiresAt && Date.parse(p.expiresAt) <= Date.now() ? "expired" : "live"

function State({ of }: { of: Partner }) {
  const now = state(of)
  return <Pill mood={now === "live" ? "good" : "quiet"}>{words.tokens[now]}</Pill>
}

// sees says what a key may see: it narrows what there is, or the sample.
function sees({ test, campaignIds, industryIds, contacts }: Partner): string {
  const narrowed = [
    campaignIds.length > 0 && words.partners.someCampaigns(campaignIds.length),
    industryIds.length > 0 && words.partners.someIndustries(industryIds.length),
    !contacts && words.partners.noContacts,
  ].filter(Boolean)
  return [test ? words.partners.sample : narrowed.length === 0 && words.partners.all, ...narrowed]
    .filter(Boolean)
    .join(", ")
}

type Settings = Pick<Partner, "name" | "origins" | "campaignIds" | "industryIds" | "contacts">

const none: Settings = { name: "", origins: [], campaignIds: [], industryIds: [], contacts: true }

const settings = ({ name, origins, campaignIds, industryIds, contacts }: Settings): Settings => ({
  name,
  origins,
  campaignIds,
  industryIds,
  contacts,
})

// lines is a field with one value in a line.
const lines = (data: FormData, name: string) =>
  String(data.get(name))
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)

interface Editing {
  of: Partner | "new"
  onClose: () => void
  onSaved: (partner: Partner) => void
}

function Edit({ of, onClose, onSaved }: Editing) {
  const stale = useStale("partners")
  const [key] = useState(once)
  const [isTest, setTest] = useState(of !== "new" && of.test)
  const former = settings(of === "new" ? none : of)
  const save = useMutation({
    mutationFn: async (data: FormData) => {
      const sent = {
        name: String(data.get("name")),
        origins: lines(data, "origins"),
        campaignIds: lines(data, "campaigns"),
        industryIds: lines(data, "industries"),
        contacts: data.has("contacts"),
      }
      if (of === "new") {
        const made = await ask(
          api.POST("/v1/partners", {
            params: { header: { "Idempotency-Key": key } },
            body: { ...sent, test: isTest },
          }),
        )
        return made.data
      }
      const path = { id: of.id }
      const changed = await ask(api.PATCH("/v1/partners/{id}", { params: { path }, body: mergePatch(former, sent) }))
      return changed.data
    },
    onSuccess: async (partner) => {
      onClose()
      onSaved(partner)
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
        {of === "new" ? (
          <label className="choice">
            <input type="checkbox" checked={isTest} onChange={(event) => setTest(event.target.checked)} />
            <span>
              {words.partners.test} <span className="muted">{words.partners.testHelp}</span>
            </span>
          </label>
        ) : (
          isTest && <p className="muted">{words.partners.isTest}</p>
        )}
        <Field
          label={words.partners.campaigns}
          name="campaigns"
          at="campaignIds"
          help={words.partners.campaignsHelp}
          error={save.error}
        >
          {(field) => (
            <textarea {...field} className="input mono" rows={2} defaultValue={former.campaignIds.join("\n")} />
          )}
        </Field>
        <Field
          label={words.partners.industries}
          name="industries"
          at="industryIds"
          help={words.partners.industriesHelp}
          error={save.error}
        >
          {(field) => (
            <textarea {...field} className="input mono" rows={2} defaultValue={former.industryIds.join("\n")} />
          )}
        </Field>
        <label className="choice">
          <input type="checkbox" name="contacts" defaultChecked={former.contacts} />
          <span>
            {words.partners.contacts} <span className="muted">{words.partners.contactsHelp}</span>
          </span>
        </label>
      </Form>
    </Modal>
  )
}

interface Confirming {
  doing: Doing
  onClose: () => void
  onMade: (key: string | undefined) => void
}

function Do({ doing: { what, to, key }, onClose, onMade }: Confirming) {
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
