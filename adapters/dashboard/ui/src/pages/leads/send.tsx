import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { api, ask, once } from "../../api/client"
import { invalid } from "../../kit/forms"
import { Field, Form, Modal } from "../../kit/parts"
import { useStale } from "../../kit/queries"
import { oneOf } from "../../kit/search"
import { words } from "../../words/en"
import { kinds, mediaOf } from "./formats"
import looks from "./leads.module.css"

interface SendProps {
  most: number // bytes that the server takes
  onClose: () => void
  onSent: (id: string) => void
}

// checked is the file of a form, with its media type; it throws what is wrong with it, as the server would say it too late.
function checked(data: FormData, kind: (typeof kinds)[number], most: number) {
  const file = data.get("file")
  if (!(file instanceof File) || !file.name) throw invalid("file", words.leads.noFile)
  const type = mediaOf(file.name)
  if (!type) throw invalid("file", words.leads.wrongFile)
  if (kind === "taxonomy" && type !== "application/json") throw invalid("file", words.leads.wrongTaxonomy)
  if (!file.size) throw invalid("file", words.leads.emptyFile)
  if (file.size > most) throw invalid("file", words.leads.largeFile(file.size, most))
  return { file, type }
}

// Send sends a file. Whoever closes the dialog before it has arrived breaks it off, and nothing is imported.
export function Send({ most, onClose, onSent }: SendProps) {
  const stale = useStale("imports")
  const [kind, setKind] = useState<(typeof kinds)[number]>("leads")
  const [key] = useState(once)
  const [leaving] = useState(() => new AbortController())
  const send = useMutation({
    mutationFn: async (data: FormData) => {
      const { file, type } = checked(data, kind, most)
      const answer = await ask(
        api.POST("/v1/imports", {
          params: {
            query: {
              kind,
              name: [...file.name].slice(0, 200).join(""),
              dryRun: data.has("dryRun"),
              strict: data.has("strict"),
            },
            header: { "Idempotency-Key": key },
          },
          headers: { "Content-Type": type },
          body: file as unknown as string, // as the browser sends it, without reading it into the memory
          bodySerializer: (body) => body,
          signal: leaving.signal,
        }),
      ).catch((error) => {
        throw leaving.signal.aborted ? invalid("file", "") : error // what was broken off is not sent again
      })
      return answer.data.id
    },
    onSuccess: async (id) => {
      onSent(id)
      await stale()
    },
  })
  const close = () => {
    leaving.abort()
    onClose()
  }
  return (
    <Modal title={words.leads.importFile} open onClose={close}>
      <Form submit={words.leads.send} busy={send.isPending} error={send.error} onSubmit={send.mutate} onCancel={close}>
        <Field label={words.leads.kind} name="kind" error={send.error}>
          {(field) => (
            <select
              {...field}
              className="input"
              value={kind}
              onChange={(event) => setKind(oneOf(event.target.value, kinds) ?? "leads")}
            >
              {kinds.map((one) => (
                <option key={one} value={one}>
                  {words.leads.kinds[one]}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field
          label={words.leads.file}
          name="file"
          help={kind === "taxonomy" ? words.leads.taxonomyHelp(most) : words.leads.fileHelp(most)}
          error={send.error}
        >
          {(field) => (
            <input {...field} className={`input ${looks.file}`} type="file" accept=".ndjson,.jsonl,.json,.csv,.gz" />
          )}
        </Field>
        <div>
          <label className="choice">
            <input type="checkbox" name="dryRun" />
            {words.leads.dryRun}
          </label>
          {kind !== "taxonomy" && (
            <label className="choice">
              <input type="checkbox" name="strict" />
              {words.leads.strict}
            </label>
          )}
        </div>
        {send.isPending && (
          <p className="muted" role="status">
            {words.leads.sending}
          </p>
        )}
      </Form>
    </Modal>
  )
}
