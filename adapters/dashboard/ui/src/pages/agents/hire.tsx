import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once } from "../../api/client"
import { type Company, useStaleIn, useTeams } from "../../kit/company"
import { amount, json, text } from "../../kit/forms"
import { Field, Form, Modal } from "../../kit/parts"
import { words } from "../../words/en"

interface HireProps {
  company: Company
  team: string | undefined // chosen before
  onClose: () => void
  onToken: (token: string | undefined) => void
}

export function Hire({ company, team, onClose, onToken }: HireProps) {
  const [key] = useState(once)
  const stale = useStaleIn(company.id, "agents", "teams", "dashboard")
  const teams = useTeams(company.id).data?.rows ?? []
  const places = teams.filter((t) => t.agentCount < t.headcount)
  const hire = useMutation({
    mutationFn: async (data: FormData) => {
      const adapter = text(data, "adapter")
      const model = text(data, "model")
      const config = json(data, "adapterConfig")
      return ask(
        api.POST("/v1/companies/{id}/agents", {
          params: { path: { id: company.id }, header: { "Idempotency-Key": key } },
          body: {
            teamId: text(data, "teamId"),
            name: text(data, "name"),
            role: text(data, "role"),
            ...(adapter && { adapter }),
            ...(model && { model }),
            ...(Object.keys(config).length && { adapterConfig: config }),
            budget: {
              dailyUsd: amount(data, "dailyUsd", "budget.dailyUsd"),
              perTaskUsd: amount(data, "perTaskUsd", "budget.perTaskUsd"),
            },
          },
        }),
      )
    },
    onSuccess: async ({ data }) => {
      onClose()
      onToken(data.token)
      await stale()
    },
  })
  return (
    <Modal title={words.agents.hire} open onClose={onClose}>
      {places.length === 0 && <p>{words.agents.noPlaces}</p>}
      <Form
        submit={words.agents.hire}
        busy={hire.isPending}
        error={hire.error}
        ready={places.length > 0}
        onSubmit={hire.mutate}
        onCancel={onClose}
      >
        <Field label={words.agents.name} name="name" error={hire.error}>
          {(field) => <input {...field} className="input" autoComplete="off" />}
        </Field>
        <Field label={words.agents.role} name="role" error={hire.error}>
          {(field) => <input {...field} className="input" autoComplete="off" />}
        </Field>
        <Field label={words.agents.team} name="teamId" error={hire.error}>
          {(field) => (
            <select {...field} className="input" defaultValue={team ?? places[0]?.id}>
              {places.map((t) => (
                <option key={t.id} value={t.id}>
                  {`${t.name} · ${words.agents.places(t.headcount - t.agentCount)}`}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={words.agents.model} name="model" error={hire.error}>
          {(field) => <input {...field} className="input" autoComplete="off" />}
        </Field>
        <Field
          label={words.agents.daily}
          name="dailyUsd"
          at="budget.dailyUsd"
          help={words.agents.limitHelp}
          error={hire.error}
        >
          {(field) => <input {...field} className="input" inputMode="decimal" autoComplete="off" />}
        </Field>
        <Field
          label={words.agents.perTask}
          name="perTaskUsd"
          at="budget.perTaskUsd"
          help={words.agents.limitHelp}
          error={hire.error}
        >
          {(field) => <input {...field} className="input" inputMode="decimal" autoComplete="off" />}
        </Field>
        <Field
          label={words.agents.adapter}
          name="adapter"
          help={words.agents.adapterHelp(company.defaultAdapter)}
          error={hire.error}
        >
          {(field) => <input {...field} className="input mono" autoComplete="off" />}
        </Field>
        <Field label={words.agents.config} name="adapterConfig" help={words.agents.configHelp} error={hire.error}>
          {(field) => <textarea {...field} className="input mono" spellCheck={false} />}
        </Field>
      </Form>
    </Modal>
  )
}
