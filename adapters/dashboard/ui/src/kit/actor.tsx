import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { api, ask, type Schemas } from "../api/client"
import { type Page, useMay, useSession } from "./queries"

const mostPages = 5 // of tokens, of 200 each

// useTokens returns what names an actor: a token by its name, where that is known to who is signed in.
export function useTokens(): (actor: string) => string {
  const session = useSession()
  const isAdmin = useMay("admin")
  const names = useQuery({
    queryKey: ["tokens", "names"],
    enabled: isAdmin,
    staleTime: 60_000,
    queryFn: async () => {
      const found = new Map<string, string>()
      let cursor: string | undefined
      for (let page = 0; page === 0 || (cursor && page < mostPages); page++) {
        const got: Page<Schemas["Token"]> = await ask(
          api.GET("/v1/tokens", { params: { query: { limit: 200, cursor } } }),
        )
        for (const one of got.data) found.set(one.id, one.name)
        cursor = got.meta.page.cursor ?? undefined
      }
      return found
    },
  }).data
  return (actor) => {
    if (!actor.startsWith("token:")) return actor
    const id = actor.slice("token:".length)
    return (id === session?.tokenId ? session.name : names?.get(id)) ?? actor
  }
}

// Actor is who did something: an agent by its name, with its page, and a token by its own.
export function Actor({ slug, of, name }: { slug: string; of: string; name: (agent: string) => string }) {
  const token = useTokens()
  if (!of.startsWith("agent:")) return <span title={of}>{token(of)}</span>
  const agent = of.slice("agent:".length)
  return (
    <Link to="/c/$slug/agents/$agent" params={{ slug, agent }}>
      {name(agent)}
    </Link>
  )
}
