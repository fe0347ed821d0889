import { useMutation, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once, type Schemas, seen } from "../../api/client"
import type { Agent } from "../../kit/agents"
import { type Company, useStaleIn } from "../../kit/company"
import { mergePatch } from "../../kit/format"
import { amount, EditForm, invalid, text } from "../../kit/forms"
import { Confirm, Failure, Field, Form, Modal } from "../../kit/parts"
import { words } from "../../words/en"

type Team = Schemas["Team"]

function headcountOf(data: FormData): number {
  const typed = text(data, "headcount")
  if (!/^\d+$/.test(typed)) throw invalid("headcount", words.figures.wrongNumber)
  return Number(typed)
}

function budgetOf(data: FormData) {
  const usd = amount(data, "usd", "budget.usd")
  return usd === null ? null : { usd }
}

function Fields({ of, error, agents }: { of?: Team; error: unknown; agents?: Agent[] }) {
  return (
    <>
      <Field label={words.agents.name} name="name" error={error}>
        {(field) => <input {...field} className="input" autoComplete="off" defaultValue={of?.name} />}
      </Field>
      <Field label={words.agents.headcount} name="headcount" error={error}>
        {(field) => <input {...field} className="input" inputMode="numeric" defaultValue={of?.headcount ?? 1} />}
      </Field>
      <Field label={words.agents.teamBudget} name="usd" at="budget" help={words.agents.limitHelp} error={error}>
        {(field) => <input {...field} className="input" inputMode="decimal" defaultValue={of?.budget?.usd} />}
      </Field>
      {agents && (
        <Field label={words.agents.manager} name="managerAgentId" error={error}>
          {(field) => (
            <select {...field} className="input" defaultValue={of?.managerAgentId ?? ""}>
              <option value="">{words.agents.noManager}</option>
              {agents.map((a) => (
                <option key={a.id} value={a.id}>
                  {a.name}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Field label={words.agents.description} name="description" error={error}>
        {(field) => <textarea {...field} className="input" defaultValue={of?.description} />}
      </Field>
    </>
  )
}

export function NewTeam({ company, onClose }: { company: Company; onClose: () => void }) {
  const [key] = useState(once)
  const stale = useStaleIn(company.id, "teams", "dashboard", "budgets")
  const make = useMutation({
    mutationFn: async (data: FormData) => {
      const budget = budgetOf(data)
      return ask(
        api.POST("/v1/companies/{id}/teams", {
          params: { path: { id: company.id }, header: { "Idempotency-Key": key } },
          body: {
            name: text(data, "name"),
            headcount: headcountOf(data),
            description: text(data, "description"),
            ...(budget && { budget }),
          },
        }),
      )
    },
    onSuccess: async () => {
      await stale()
      onClose()
    },
  })
  return (
    <Modal title={words.agents.newTeam} open onClose={onClose}>
      <Form
        submit={words.agents.newTeam}
        busy={make.isPending}
        error={make.error}
        onSubmit={make.mutate}
        onCancel={onClose}
      >
        <Fields error={make.error} />
      </Form>
    </Modal>
  )
}

interface EditProps {
  company: Company
  team: Team
  agents: Agent[]
  onClose: () => void
}

const editable = (t: Team) => ({
  name: t.name,
  headcount: t.headcount,
  description: t.description,
  managerAgentId: t.managerAgentId as string | null,
  budget: t.budget as { usd: number } | null,
})

export function EditTeam({ company, team, agents, onClose }: EditProps) {
  const path = { id: company.id, team: team.id }
  const query = useQuery({
    queryKey: [company.id, "teams", team.id],
    queryFn: async () => {
      const { body, etag } = await seen(api.GET("/v1/companies/{id}/teams/{team}", { params: { path } }))
      return { team: body.data, etag }
    },
    staleTime: 0,
    gcTime: 0,
  })
  const stale = useStaleIn(company.id, "teams", "dashboard", "budgets")
  const patch = (data: FormData, of: Team) =>
    mergePatch(editable(of), {
      name: text(data, "name"),
      headcount: headcountOf(data),
      description: text(data, "description"),
      managerAgentId: text(data, "managerAgentId") || null,
      budget: budgetOf(data),
    })
  return (
    <Modal title={words.agents.editTeamTitle(team.name)} open onClose={onClose}>
      <Failure error={query.error} retry={query.refetch} />
      {query.data && (
        <EditForm
          of={query.data.team}
          etag={query.data.etag}
          submit={words.save}
          patch={patch}
          send={(body, version) =>
            ask(
              api.PATCH("/v1/companies/{id}/teams/{team}", {
                params: { path, header: { "If-Match": version } },
                body,
              }),
            )
          }
          again={query.refetch}
          done={async () => {
            await stale()
            onClose()
          }}
          onCancel={onClose}
        >
          {(of, error) => <Fields of={of} error={error} agents={agents} />}
        </EditForm>
      )}
    </Modal>
  )
}

export function RemoveTeam({ company, team, onClose }: { company: Company; team: Team; onClose: () => void }) {
  const stale = useStaleIn(company.id, "teams", "dashboard", "budgets")
  const remove = useMutation({
    mutationFn: () =>
      ask(api.DELETE("/v1/companies/{id}/teams/{team}", { params: { path: { id: company.id, team: team.id } } })),
    onSuccess: async () => {
      await stale()
      onClose()
    },
  })
  return (
    <Confirm
      title={words.agents.removeTeamTitle(team.name)}
      text={words.agents.removeTeamText}
      submit={words.agents.removeTeam}
      busy={remove.isPending}
      error={remove.error}
      onSubmit={remove.mutate}
      onClose={onClose}
    />
  )
}
