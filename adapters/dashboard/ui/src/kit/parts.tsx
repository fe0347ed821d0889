import { Dialog } from "@base-ui/react/dialog"
import { Menu } from "@base-ui/react/menu"
import { useMutationState } from "@tanstack/react-query"
import { Ellipsis } from "lucide-react"
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react"
import { type ApiError, asApiError, repeat } from "../api/errors"
import { words } from "../words/en"
import { ago, exact } from "./format"

export function Time({ at }: { at: string | null | undefined }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000)
    return () => clearInterval(timer)
  }, [])
  if (!at) return <span className="muted">{words.never}</span>
  return (
    <time dateTime={at} title={exact(at)}>
      {ago(at, now)}
    </time>
  )
}

export type Mood = "good" | "warning" | "bad" | "quiet"

export const Pill = ({ mood, children }: { mood: Mood; children: ReactNode }) => (
  <span className={`pill ${mood}`}>{children}</span>
)

// Failure says what the API said.
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  if (!error) return null
  const { message, code, requestId, details, retryAfter }: ApiError = asApiError(error)
  return (
    <div className="error" role="alert">
      <div>
        <p>{code === "insufficient_scope" && details.required ? words.missingScope(details.required) : message}</p>
        <p className="muted small mono">
          {words.failed(code, requestId)}
          {retryAfter > 0 && ` · ${words.retryAfter(retryAfter)}`}
        </p>
      </div>
      {retry && (
        <button type="button" className="button" onClick={retry}>
          {words.retry}
        </button>
      )}
    </div>
  )
}

export const Empty = ({ title, text, children }: { title: string; text: string; children?: ReactNode }) => (
  <div className="empty">
    <h2>{title}</h2>
    <p>{text}</p>
    {children}
  </div>
)

interface FieldProps {
  label: string
  name: string
  help?: string
  error?: unknown
  at?: string // path of the field in errors of the API, if it is not the name
  children: (props: { id: string; name: string; "aria-describedby"?: string; "aria-invalid"?: boolean }) => ReactNode
}

export function Field({ label, name, help, error, at, children }: FieldProps) {
  const id = useId()
  const wrong = error ? asApiError(error).of(at ?? name) : undefined
  const described = wrong || help ? `${id}-about` : undefined
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, name, "aria-describedby": described, "aria-invalid": wrong ? true : undefined })}
      {described && (
        <p id={described} className={wrong ? "wrong" : "muted small"}>
          {wrong ?? help}
        </p>
      )}
    </div>
  )
}

interface ModalProps {
  title: string
  open: boolean
  onClose: () => void
  children: ReactNode
}

export const Modal = ({ title, open, onClose, children }: ModalProps) => (
  <Dialog.Root open={open} onOpenChange={(next) => !next && onClose()}>
    <Dialog.Portal>
      <Dialog.Backdrop className="backdrop" />
      <Dialog.Popup className="dialog stack">
        <Dialog.Title>{title}</Dialog.Title>
        {children}
      </Dialog.Popup>
    </Dialog.Portal>
  </Dialog.Root>
)

// Sending says that what was sent is not taken yet, and is sent again.
function Sending() {
  const reasons = useMutationState({
    filters: { status: "pending" },
    select: ({ state }) =>
      state.failureCount > 0 && { error: asApiError(state.failureReason), times: state.failureCount },
  })
  const last = reasons.findLast((one) => !!one)
  return (
    <div role="status">
      {last && (
        <>
          <p className="muted">{words.shell.sending}</p>
          <p className="muted small mono">
            {words.failed(last.error.code, last.error.requestId)}
            {` · ${words.shell.sendingIn(Math.ceil((repeat(last.error, last.times - 1) ?? 0) / 1000))}`}
          </p>
        </>
      )}
    </div>
  )
}

interface FormProps {
  submit: string | undefined // undefined: it is to look at only
  busy: boolean
  error?: unknown
  danger?: boolean
  ready?: boolean
  onFocus?: () => void
  onSubmit: (data: FormData) => void
  onCancel?: () => void
  children?: ReactNode
}

export function Form({ submit, busy, error, danger, ready = true, onFocus, onSubmit, onCancel, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus()
  }, [error])
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (submit && !busy && ready) onSubmit(new FormData(event.currentTarget))
  }
  return (
    <form className="stack" ref={form} onFocus={onFocus} onSubmit={send} noValidate>
      {children}
      <Failure error={error} />
      {busy && <Sending />}
      <div className={onCancel ? "row end buttons" : "row buttons"}>
        {onCancel && (
          <button type="button" className="button" onClick={onCancel}>
            {words.cancel}
          </button>
        )}
        {submit && (
          <button type="submit" className={danger ? "button danger" : "button primary"} disabled={busy || !ready}>
            {submit}
          </button>
        )}
      </div>
    </form>
  )
}

export interface Action {
  name: string
  danger?: boolean
  run: () => void
}

// Actions runs what was chosen once the menu is gone: as it goes, it takes the focus back, from a dialog too.
export function Actions({ of, actions }: { of: string; actions: Action[] }) {
  const chosen = useRef<Action>(undefined)
  if (!actions.length) return null
  const onOpenChangeComplete = (open: boolean) => {
    if (open) return
    chosen.current?.run()
    chosen.current = undefined
  }
  return (
    <Menu.Root onOpenChangeComplete={onOpenChangeComplete}>
      <Menu.Trigger className="button plain icon" aria-label={words.actions(of)}>
        <Ellipsis size={16} aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner align="end" sideOffset={4}>
          <Menu.Popup className="menu">
            {actions.map((action) => (
              <Menu.Item
                key={action.name}
                className={action.danger ? "danger" : undefined}
                onClick={() => {
                  chosen.current = action
                }}
              >
                {action.name}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

// Close ends a dialog that only shows something.
export function Close({ onClose }: { onClose: () => void }) {
  return (
    <div className="row end">
      <button type="button" className="button primary" onClick={onClose}>
        {words.close}
      </button>
    </div>
  )
}

// Once shows a value that is not shown again. Copying needs an encrypted page; else the text is selected.
export function Once({ title, value, onClose }: { title: string; value: string | undefined; onClose: () => void }) {
  const input = useRef<HTMLInputElement>(null)
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    input.current?.select()
    try {
      await navigator.clipboard.writeText(value ?? "")
      setCopied(true)
    } catch {
      input.current?.focus()
    }
  }
  return (
    <Modal title={title} open={!!value} onClose={onClose}>
      <p className="muted">{words.tokens.onceText}</p>
      <div className="once">
        <input ref={input} className="input mono" readOnly value={value ?? ""} aria-label={words.tokens.value} />
        <button type="button" className="button" onClick={copy}>
          {copied ? words.copied : words.copy}
        </button>
      </div>
      <Close onClose={onClose} />
    </Modal>
  )
}

export interface Column<T> {
  head: string
  cell: (row: T) => ReactNode
  number?: boolean
  minor?: boolean // left out on phones
}

const kind = (n: number, { number, minor }: Pick<Column<never>, "number" | "minor">) =>
  [n === 0 && "first", number && "number", minor && "minor"].filter(Boolean).join(" ") || undefined

interface TableProps<T> {
  label: string
  columns: Column<T>[]
  rows: T[] | undefined // undefined: not known yet
  id: (row: T) => string
  actions?: (row: T) => ReactNode
}

export function Table<T>({ label, columns, rows, id, actions }: TableProps<T>) {
  const slow = useLate(rows === undefined, 150)
  if (!rows && !slow) return null
  return (
    <div className="panel">
      <table className="table" aria-label={label} aria-busy={!rows}>
        <thead>
          <tr>
            {columns.map((c) => (
              <th key={c.head} scope="col" className={c.number ? "number" : undefined}>
                {c.head}
              </th>
            ))}
            {actions && (
              <th scope="col">
                <span className="hidden">{words.more}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {!rows &&
            [1, 2, 3].map((n) => (
              <tr key={n}>
                {columns.map((c) => (
                  <td key={c.head}>
                    <span className="skeleton" />
                  </td>
                ))}
              </tr>
            ))}
          {rows?.map((row) => (
            <tr key={id(row)}>
              {columns.map((c, n) => (
                <td key={c.head} data-head={c.head} className={kind(n, c)}>
                  {c.cell(row)}
                </td>
              ))}
              {actions && <td className="act">{actions(row)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function useLate(on: boolean, after: number): boolean {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(on), on ? after : 0)
    return () => clearTimeout(timer)
  }, [on, after])
  return late
}

interface ConfirmProps {
  title: string
  text: string
  submit: string
  busy: boolean
  error: unknown
  type?: string // what has to be typed
  onSubmit: () => void
  onClose: () => void
}

export function Confirm({ title, text, submit, busy, error, type, onSubmit, onClose }: ConfirmProps) {
  const [typed, setTyped] = useState("")
  return (
    <Modal title={title} open onClose={onClose}>
      <Form
        submit={submit}
        busy={busy}
        error={error}
        danger
        ready={!type || typed === type}
        onSubmit={onSubmit}
        onCancel={onClose}
      >
        <p>{text}</p>
        {type && (
          <input
            className="input"
            aria-label={text}
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
      </Form>
    </Modal>
  )
}
