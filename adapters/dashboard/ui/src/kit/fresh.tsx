import { useSyncExternalStore } from "react"
import { fresh } from "../api/live"
import { words } from "../words/en"

// Fresh offers to read a list again that has grown since it was read.
export function Fresh({ cid, list, onShow }: { cid: string; list: "issues" | "activity"; onShow: () => unknown }) {
  const count = useSyncExternalStore(fresh.watch, () => fresh.of(cid, list))
  if (!count) return null
  return (
    <button
      type="button"
      className="button"
      onClick={() => {
        fresh.clear(cid, list)
        void onShow()
      }}
    >
      {words.shell.fresh(count)}
    </button>
  )
}
