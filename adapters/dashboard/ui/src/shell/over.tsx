import { useQueryClient } from "@tanstack/react-query"
import { useCallback, useEffect, useRef, useSyncExternalStore } from "react"
import { createPortal } from "react-dom"
import { whoIsSignedIn } from "../api/client"
import { asApiError } from "../api/errors"
import { over } from "../api/over"
import { SignInForm } from "../kit/signin"
import { words } from "../words/en"

// Over asks to sign in again when the session has ended, in front of all that is open, so that nothing typed is lost. It hides the page
// until that is read anew: what whoever signs in may not read is not shown any more.
export function Over() {
  const isOver = useSyncExternalStore(over.watch, over.is)
  return isOver && createPortal(<Door />, document.body)
}

function Door() {
  const queries = useQueryClient()
  const place = useRef<HTMLDialogElement>(null)
  const entered = useCallback(async () => {
    await queries.invalidateQueries()
    const refused = ({ state }: { state: { error: unknown } }) => [403, 404].includes(asApiError(state.error).status)
    await queries.resetQueries({ predicate: (of) => !!of.state.error && refused(of) })
    queries.removeQueries({ type: "inactive" })
    over.set(false)
  }, [queries])
  useEffect(() => {
    const dialog = place.current
    dialog?.showModal()
    // What is open below must not hear keys and clicks: Escape would close it.
    const keep = (event: Event) => event.stopPropagation()
    const stay = (event: Event) => event.preventDefault()
    const heard = ["keydown", "pointerdown", "mousedown", "click", "focusin", "focusout"]
    for (const name of heard) document.body.addEventListener(name, within)
    function within(event: Event) {
      if (event.target instanceof Node && dialog?.contains(event.target)) keep(event)
    }
    dialog?.addEventListener("cancel", stay)
    // Somebody may have signed in elsewhere in this browser, by a link.
    const look = () => void whoIsSignedIn().then(entered, () => undefined)
    addEventListener("focus", look)
    return () => {
      for (const name of heard) document.body.removeEventListener(name, within)
      dialog?.removeEventListener("cancel", stay)
      removeEventListener("focus", look)
    }
  }, [entered])
  return (
    <dialog ref={place} className="dialog over" aria-labelledby="over-title">
      <div className="stack">
        <h2 id="over-title">{words.shell.over}</h2>
        <p role="status">{words.shell.overText}</p>
        <SignInForm onEntered={entered} />
      </div>
    </dialog>
  )
}
