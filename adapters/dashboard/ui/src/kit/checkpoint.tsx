import { useQuery } from "@tanstack/react-query"
import { api, ask } from "../api/client"
import { words } from "../words/en"
import { Markdown } from "./markdown"
import { Time } from "./parts"
import { Tree } from "./tree"

interface CheckpointProps {
  cid: string
  issue: string
  run?: string // undefined: the last run of the issue
}

// Checkpoint is the last one of a run; nothing if there is none.
export function Checkpoint({ cid, issue, run }: CheckpointProps) {
  const path = { id: cid, issue }
  const query = useQuery({
    queryKey: [cid, "runs", issue, run ?? "last", "checkpoint"],
    queryFn: async () => {
      const last =
        run ??
        (await ask(api.GET("/v1/companies/{id}/issues/{issue}/runs", { params: { path, query: { limit: 1 } } })))
          .data[0]?.id
      if (!last) return null
      const found = await ask(
        api.GET("/v1/companies/{id}/issues/{issue}/runs/{run}", { params: { path: { ...path, run: last } } }),
      )
      return found.data.checkpoints?.at(-1) ?? null
    },
  })
  const one = query.data
  if (!one) return null
  return (
    <>
      <h3>{words.inbox.checkpoint}</h3>
      <div>
        <Markdown>{one.note}</Markdown>
        <span className="muted small">
          <Time at={one.at} />
        </span>
        {one.data !== null && <Tree of={one.data} />}
      </div>
    </>
  )
}
