import { useQuery } from "@tanstack/react-query"
import { useMatches, useParams } from "@tanstack/react-router"
import { useEffect } from "react"
import { useAgent } from "../kit/agents"
import { companyQuery } from "../kit/company"
import { words } from "../words/en"
import { instancePages, pages } from "./pages"

const others = [
  { to: "/", name: words.nav.companies },
  { to: "/inbox", name: words.nav.allInboxes },
  { to: "/c/$slug/issues/$number", name: words.nav.issues },
  { to: "/c/$slug/agents/$agent", name: words.nav.agents },
]

// Title names the page and the company in view, in the tab and the history of the browser.
export function Title() {
  const path: string | undefined = useMatches().at(-1)?.fullPath
  const { slug, number, agent } = useParams({ strict: false })
  const company = useQuery({ ...companyQuery(slug ?? ""), enabled: !!slug }).data?.company
  const worker = useAgent(company?.id ?? "", agent ?? "", false).data?.agent.name // which its page reads
  const page = [...pages, ...instancePages, ...others].find((one) => one.to === path)?.name
  const title = [number && `#${number}`, worker ?? page, slug && (company?.name ?? slug), words.product]
    .filter(Boolean)
    .join(" · ")
  useEffect(() => {
    document.title = title
  }, [title])
  return null
}
