import { useMutation } from "@tanstack/react-query"
import { useEffect, useRef, useState } from "react"
import { ApiError, asApiError } from "../api/errors"
import { words } from "../words/en"
import { objectOf } from "./format"

// invalid is what the API would say of a field, of what cannot even be sent.
export const invalid = (field: string, message: string) =>
  new ApiError(422, "validation_failed", message, "", { fields: [{ field, code: "", message }] }, 0)

// text is a field of a form without the space around it.
export const text = (data: FormData, name: string) => String(data.get(name) ?? "").trim()

// amount reads a field of US dollars: null if it is empty.
export function amount(data: FormData, name: string, at = name): number | null {
  const typed = text(data, name).replace(/^\$/, "")
  if (!typed) return null
  const usd = Number(typed)
  if (!Number.isFinite(usd)) throw invalid(at, words.figures.wrongNumber)
  return usd
}

// json reads a field that holds an object of JSON.
export function json(data: FormData, name: string): Record<string, unknown> {
  const value = objectOf(text(data, name))
  if (!value) throw invalid(name, words.figures.wrongJson)
  return value
}

// useSave saves a patch of the version that a form shows. When that is not the current one any more, what was to be saved is kept in
// mine, and the current one is read again, so that both can be shown.
export function useSave<P extends object>(
  etag: string,
  send: (patch: P, etag: string) => Promise<unknown>,
  again: () => Promise<unknown>,
  done: () => unknown,
) {
  const [mine, setMine] = useState<P>()
  const run = useMutation({
    mutationFn: (patch: P) => send(patch, etag),
    onSuccess: async () => {
      setMine(undefined)
      await done()
    },
    onError: async (error, patch) => {
      if (asApiError(error).status !== 412) return
      await again()
      setMine(patch)
    },
  })
  const error = asApiError(run.error).status === 412 ? undefined : run.error
  return { mine, error, busy: run.isPending, save: run.mutate, drop: () => setMine(undefined) }
}

const shown = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value, null, 2))

interface ConflictProps {
  mine: object | undefined
  now: object
  busy: boolean
  onSave: () => void
  onDrop: () => void
}

// Conflict shows both versions of what two people changed at once.
export function Conflict({ mine, now, busy, onSave, onDrop }: ConflictProps) {
  const place = useRef<HTMLElement>(null)
  const isShown = !!mine
  useEffect(() => {
    if (isShown) place.current?.focus() // it stands above what was just filled in, perhaps out of sight
  }, [isShown])
  if (!mine) return null
  return (
    <section className="panel inset stack" ref={place} tabIndex={-1} role="alert" aria-label={words.figures.conflict}>
      <h3>{words.figures.conflict}</h3>
      <p className="muted">{words.figures.conflictText}</p>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{words.figures.field}</th>
            <th scope="col">{words.figures.yours}</th>
            <th scope="col">{words.figures.now}</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(mine).map(([name, value]) => (
            <tr key={name}>
              <td className="first">{name}</td>
              <td data-head={words.figures.yours}>{shown(value)}</td>
              <td data-head={words.figures.now}>{shown((now as Record<string, unknown>)[name])}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="row">
        <button type="button" className="button" disabled={busy} onClick={onSave}>
          {words.figures.saveMine}
        </button>
        <button type="button" className="button" onClick={onDrop}>
          {words.figures.keepTheirs}
        </button>
      </div>
    </section>
  )
}

interface ChooseProps {
  label: string
  value: string | undefined
  options: [value: string, name: string][]
  onChange: (value: string | undefined) => void
  none?: string // the name of no choice
}

// Choose is a filter.
export const Choose = ({ label, value, options, onChange, none = words.figures.any(label) }: ChooseProps) => (
  <select
    className="input"
    aria-label={label}
    value={value ?? ""}
    onChange={(event) => onChange(event.target.value || undefined)}
  >
    <option value="">{none}</option>
    {options.map(([key, name]) => (
      <option key={key} value={key}>
        {name}
      </option>
    ))}
  </select>
)
