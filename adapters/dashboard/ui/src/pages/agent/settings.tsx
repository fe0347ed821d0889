import { useState } from "react"
import { api, ask, type Schemas } from "../../api/client"
import type { Agent } from "../../kit/agents"
import { type Company, useStaleIn } from "../../kit/company"
import { mergePatch } from "../../kit/format"
import { amount, Conflict, json, text, useSave } from "../../kit/forms"
import { Facts } from "../../kit/page"
import { Field, Form } from "../../kit/parts"
import { useMay } from "../../kit/queries"
import { words } from "../../words/en"

interface SettingsProps {
  company: Company
  agent: Agent
  etag: string
  again: () => Promise<unknown>
}

// editable are the fields of an agent that the form shows, by the names of the API.
const editable = (a: Agent) => ({
  name: a.name,
  role: a.role,
  model: a.model,
  adapter: a.adapter,
  adapterConfig: a.adapterConfig,
  budget: { ...a.budget },
  approvalPolicy: { requires: a.approvalPolicy.requires },
  memoryScopes: a.memoryScopes,
})

export function Settings({ company, agent, etag, again }: SettingsProps) {
  const path = { id: company.id, agent: agent.id }
  const mayWrite = useMay("write", company.id) && agent.status !== "retired"
  const stale = useStaleIn(company.id, "agents", "teams", "budgets", "dashboard")
  const [said, setSaid] = useState("")
  const [wrong, setWrong] = useState<unknown>()
  const save = useSave<Record<string, unknown>>(
    etag,
    (patch, version) =>
      ask(
        api.PATCH("/v1/companies/{id}/agents/{agent}", {
          params: { path, header: { "If-Match": version } },
          body: patch as Schemas["AgentPatch"],
        }),
      ),
    again,
    async () => {
      await stale()
      setSaid(words.saved)
    },
  )
  const submit = (data: FormData) => {
    setSaid("")
    try {
      const after = {
        name: text(data, "name"),
        role: text(data, "role"),
        model: text(data, "model") || null,
        adapter: text(data, "adapter"),
        adapterConfig: json(data, "adapterConfig"),
        budget: {
          dailyUsd: amount(data, "dailyUsd", "budget.dailyUsd"),
          perTaskUsd: amount(data, "perTaskUsd", "budget.perTaskUsd"),
        },
        approvalPolicy: {
          requires: text(data, "requires")
            .split("\n")
            .map((line) => line.trim())
            .filter(Boolean),
        },
        memoryScopes: data.getAll("memoryScopes").map(String),
      }
      setWrong(undefined)
      const patch = mergePatch(editable(agent), after)
      if (Object.keys(patch).length) save.save(patch)
    } catch (error) {
      setWrong(error)
    }
  }
  const error = wrong ?? save.error
  const line = (
    label: string,
    name: string,
    value: string | number | null | undefined,
    more: object = {},
    at?: string,
  ) => (
    <Field label={label} name={name} at={at} error={error}>
      {(field) => (
        <input
          {...field}
          {...more}
          className="input"
          autoComplete="off"
          defaultValue={value ?? ""}
          readOnly={!mayWrite}
        />
      )}
    </Field>
  )
  const decimal = { inputMode: "decimal", placeholder: words.figures.noLimit }
  return (
    <>
      {agent.status === "retired" && <p className="muted">{words.agent.retired}</p>}
      <Conflict
        mine={save.mine}
        now={agent}
        busy={save.busy}
        onSave={() => save.mine && save.save(save.mine)}
        onDrop={save.drop}
      />
      <div className="form">
        <Form key={etag} submit={mayWrite ? words.save : undefined} busy={save.busy} error={error} onSubmit={submit}>
          {line(words.agents.name, "name", agent.name)}
          {line(words.agents.role, "role", agent.role)}
          {line(words.agents.model, "model", agent.model)}
          {line(words.agents.daily, "dailyUsd", agent.budget.dailyUsd, decimal, "budget.dailyUsd")}
          {line(words.agents.perTask, "perTaskUsd", agent.budget.perTaskUsd, decimal, "budget.perTaskUsd")}
          {line(words.agents.adapter, "adapter", agent.adapter)}
          <Field label={words.agents.config} name="adapterConfig" help={words.agents.configHelp} error={error}>
            {(field) => (
              <textarea
                {...field}
                className="input mono"
                spellCheck={false}
                rows={10}
                defaultValue={JSON.stringify(agent.adapterConfig, null, 2)}
                readOnly={!mayWrite}
              />
            )}
          </Field>
          <Field
            label={words.agent.requires}
            name="requires"
            at="approvalPolicy"
            help={words.agent.requiresHelp}
            error={error}
          >
            {(field) => (
              <textarea
                {...field}
                className="input mono"
                spellCheck={false}
                defaultValue={agent.approvalPolicy.requires.join("\n")}
                readOnly={!mayWrite}
              />
            )}
          </Field>
          <fieldset className="field plain">
            <legend className="label">{words.agent.memory}</legend>
            {(["agent", "project", "client", "company"] as const).map((scope) => (
              <label key={scope} className="choice">
                <input
                  type="checkbox"
                  name="memoryScopes"
                  value={scope}
                  defaultChecked={agent.memoryScopes.includes(scope)}
                  disabled={!mayWrite}
                />
                {words.agent.memoryScopes[scope]}
              </label>
            ))}
          </fieldset>
          <p role="status">{said}</p>
        </Form>
      </div>
      <Facts of={[[words.agent.id, <code key="id">{agent.id}</code>]]} />
    </>
  )
}
