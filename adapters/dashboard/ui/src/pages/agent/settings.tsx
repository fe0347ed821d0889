import { api, ask, type Schemas } from "../../api/client"
import type { Agent } from "../../kit/agents"
import { type Company, useStaleIn } from "../../kit/company"
import { mergePatch } from "../../kit/format"
import { amount, EditForm, json, text } from "../../kit/forms"
import { Facts } from "../../kit/page"
import { Field } from "../../kit/parts"
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
  instructions: a.instructions ?? "",
})

// prose is a field of several lines. It is what it was before unless somebody typed: a field shows other ends of lines, and a form trims.
function prose(data: FormData, name: string, before: string) {
  const typed = text(data, name)
  return typed === before.replace(/\r\n?/g, "\n").trim() ? before : typed
}

export function Settings({ company, agent, etag, again }: SettingsProps) {
  const path = { id: company.id, agent: agent.id }
  const mayWrite = useMay("write", company.id) && agent.status !== "retired"
  const stale = useStaleIn(company.id, "agents", "teams", "budgets", "dashboard")
  const patch = (data: FormData, of: Agent) =>
    mergePatch(editable(of), {
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
      instructions: prose(data, "instructions", of.instructions ?? ""),
    })
  const line = (
    error: unknown,
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
      {!mayWrite && <p role="note">{agent.status === "retired" ? words.agent.retired : words.readOnly}</p>}
      <div className="form">
        <EditForm
          of={agent}
          etag={etag}
          submit={mayWrite ? words.save : undefined}
          patch={patch}
          send={(body, version) =>
            ask(
              api.PATCH("/v1/companies/{id}/agents/{agent}", {
                params: { path, header: { "If-Match": version } },
                body: body as Schemas["AgentPatch"],
              }),
            )
          }
          again={again}
          done={stale}
        >
          {(of, error) => (
            <>
              {line(error, words.agents.name, "name", of.name)}
              {line(error, words.agents.role, "role", of.role)}
              {line(error, words.agents.model, "model", of.model)}
              <Field
                label={words.agent.instructions}
                name="instructions"
                help={words.agent.instructionsHelp}
                error={error}
              >
                {(field) => (
                  <textarea
                    {...field}
                    className="input"
                    rows={10}
                    defaultValue={of.instructions ?? ""}
                    readOnly={!mayWrite}
                  />
                )}
              </Field>
              {line(error, words.agents.daily, "dailyUsd", of.budget.dailyUsd, decimal, "budget.dailyUsd")}
              {line(error, words.agents.perTask, "perTaskUsd", of.budget.perTaskUsd, decimal, "budget.perTaskUsd")}
              {line(error, words.agents.adapter, "adapter", of.adapter)}
              <Field label={words.agents.config} name="adapterConfig" help={words.agents.configHelp} error={error}>
                {(field) => (
                  <textarea
                    {...field}
                    className="input mono"
                    spellCheck={false}
                    rows={10}
                    defaultValue={JSON.stringify(of.adapterConfig, null, 2)}
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
                    defaultValue={of.approvalPolicy.requires.join("\n")}
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
                      defaultChecked={of.memoryScopes.includes(scope)}
                      disabled={!mayWrite}
                    />
                    {words.agent.memoryScopes[scope]}
                  </label>
                ))}
              </fieldset>
            </>
          )}
        </EditForm>
      </div>
      <Facts of={[[words.agent.id, <code key="id">{agent.id}</code>]]} />
    </>
  )
}
