import { useMutation } from "@tanstack/react-query"
import { type ReactNode, useEffect, useRef, useState } from "react"
import { ApiError, asApiError } from "../api/errors"
import { words } from "../words/en"
import { objectOf } from "./format"
import { Form } from "./parts"

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

const shown = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value, null, 2))

interface ConflictProps {
  mine: object | undefined
  now: object
  busy: boolean
  onSave: () => void
  onDrop: () => void
}

// Conflict shows both versions of what two people changed at once.
function Conflict({ mine, now, busy, onSave, onDrop }: ConflictProps) {
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

const ignored = ["updatedAt", "openBlockers", "failedBlockers", "comments"] // these are shown in their places

interface ChangedProps<V> {
  before: V | undefined
  now: V | undefined
}

// Changed shows what of something became different since somebody decided about it.
export function Changed<V extends object>({ before, now }: ChangedProps<V>) {
  if (!before || !now) return null
  const was = before as Record<string, unknown>
  const fields = Object.entries(now).filter(
    ([name, value]) => !ignored.includes(name) && JSON.stringify(value) !== JSON.stringify(was[name]),
  )
  return (
    <section className="panel inset stack tight" role="alert" aria-label={words.figures.changed}>
      <h3>{words.figures.changed}</h3>
      <p className="muted">{words.figures.changedText}</p>
      {fields.length > 0 && (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{words.figures.field}</th>
              <th scope="col">{words.figures.before}</th>
              <th scope="col">{words.figures.now}</th>
            </tr>
          </thead>
          <tbody>
            {fields.map(([name, value]) => (
              <tr key={name}>
                <td className="first">{name}</td>
                <td data-head={words.figures.before}>{shown(was[name])}</td>
                <td data-head={words.figures.now}>{shown(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

export interface Version<V> {
  of: V
  etag: string
}

// useVersion keeps the version on which somebody decides, from when it is first shown. If somebody else was quicker, refused reads the
// current one, on which the next try is made, and before is the one that was decided on.
export function useVersion<V>(
  first: Version<V> | undefined,
  again: (() => Promise<Version<V> | undefined>) | undefined,
) {
  const [held, hold] = useState(first)
  const [before, setBefore] = useState<V>()
  const refused = async (error: unknown) => {
    if (asApiError(error).status !== 412) return
    const now = await again?.()
    if (!now) return
    setBefore(held?.of)
    hold(now)
  }
  return { held, before, refused }
}

interface EditFormProps<V> {
  of: V // as it was last read
  etag: string // of that version
  submit?: string // undefined: it is to look at only
  patch: (data: FormData, of: V) => object | undefined | Promise<object | undefined> // what was changed; it throws what is wrong
  send: (patch: object, etag: string) => Promise<unknown>
  again: () => Promise<unknown> // reads the current version
  done: () => unknown
  onDrop?: () => void
  onCancel?: () => void // undefined: the form stays when it has saved
  children: (of: V, error: unknown) => ReactNode
}

// EditForm changes what was read. The form shows the current version until one of its fields has the focus; from then on it keeps the
// one that it shows, however often that is read anew, so that nothing typed is lost. If somebody else was quicker when it is saved,
// both versions are shown.
export function EditForm<V extends object>(props: EditFormProps<V>) {
  const { onDrop, onCancel } = props
  const [held, hold] = useState<{ of: V; etag: string }>()
  const [mine, setMine] = useState<object>()
  const [said, setSaid] = useState("")
  const { of, etag } = held ?? props
  const save = useMutation({
    mutationFn: async (change: FormData | object) => {
      setSaid("")
      const patch = change instanceof FormData ? await props.patch(change, of) : change
      try {
        if (patch && Object.keys(patch).length) await props.send(patch, etag)
      } catch (error) {
        if (asApiError(error).status !== 412) throw error
        await props.again()
        hold(undefined)
        setMine(patch)
        return
      }
      await props.done()
      hold(undefined)
      setMine(undefined)
      setSaid(words.saved)
    },
  })
  const drop = () => {
    setMine(undefined)
    onDrop?.()
  }
  return (
    <>
      <Conflict
        mine={mine}
        now={props.of}
        busy={save.isPending}
        onSave={() => mine && save.mutate(mine)}
        onDrop={drop}
      />
      <Form
        key={etag}
        submit={props.submit}
        busy={save.isPending}
        error={save.error}
        onFocus={() => hold((before) => before ?? { of, etag })}
        onSubmit={save.mutate}
        onCancel={onCancel}
      >
        {props.children(of, save.error)}
        {!onCancel && <p role="status">{said}</p>}
      </Form>
    </>
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
