import { useEffect, useState } from "react"

// drafts are what was typed and not sent yet, by what it is for, as long as the page is open.
const drafts = new Map<string, Record<string, string>>()

addEventListener("beforeunload", (event) => {
  if ([...drafts.values()].some((of) => Object.values(of).some(Boolean))) event.preventDefault()
})

// useDraft keeps what is typed into a form until it is sent, whatever is closed or opened meanwhile.
export function useDraft(key: string) {
  const [values, setValues] = useState(() => drafts.get(key) ?? {})
  useEffect(() => setValues(drafts.get(key) ?? {}), [key])
  return {
    values,
    keep: (form: HTMLFormElement) => {
      const typed: Record<string, string> = {}
      for (const [name, value] of new FormData(form)) if (typeof value === "string") typed[name] = value
      drafts.set(key, typed)
    },
    set: (next: Record<string, string>) => {
      drafts.set(key, next)
      setValues(next)
    },
    clear: () => {
      drafts.delete(key)
      setValues({})
    },
  }
}
