import { useNavigate } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { isTyping, keysAreOn, place } from "../kit/keys"
import { Modal } from "../kit/parts"
import { words } from "../words/en"
import { pages } from "./pages"

// Keys does what single keys ask for, and Ctrl+K.
export function Keys({ slug, onSearch }: { slug: string | undefined; onSearch: () => void }) {
  const navigate = useNavigate()
  const [helping, setHelping] = useState(false)
  const [on, setOn] = useState(keysAreOn)
  useEffect(() => {
    let wentAt = 0 // when g was pressed
    const keys = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault()
        onSearch()
        return
      }
      if (!on || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      if (document.querySelector("[role=dialog],[role=menu]")) return
      const goes = event.timeStamp - wentAt < 1500 && wentAt > 0
      wentAt = 0
      if (goes) {
        const page = pages.find((one) => one.key === event.key)
        if (page && slug) {
          event.preventDefault()
          void navigate({ to: page.to, params: { slug } })
        }
        return
      }
      if (event.key === "g") wentAt = event.timeStamp
      else if (event.key === "?") setHelping(true)
      else if (/^[/neadr]$/.test(event.key)) {
        const control = document.querySelector<HTMLElement>(`[data-key="${event.key}"]`)
        if (!control) return
        event.preventDefault()
        control.focus()
        if (event.key === "n" || event.key === "e") control.click()
      }
    }
    addEventListener("keydown", keys)
    return () => removeEventListener("keydown", keys)
  }, [slug, on, onSearch, navigate])
  return (
    <Modal title={words.shell.keys} open={helping} onClose={() => setHelping(false)}>
      <p className="muted">{words.shell.keysText}</p>
      <table className="table" aria-label={words.shell.keys}>
        <tbody>
          {words.shell.keyList.map(([keys, does]) => (
            <tr key={keys}>
              <th scope="row">
                <kbd className="mono">{keys}</kbd>
              </th>
              <td>{does}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <label className="choice">
        <input
          type="checkbox"
          checked={on}
          onChange={(event) => {
            localStorage.setItem(place, event.target.checked ? "on" : "off")
            setOn(event.target.checked)
          }}
        />
        {words.shell.keysOn}
      </label>
    </Modal>
  )
}
