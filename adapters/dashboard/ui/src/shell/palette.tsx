import { Dialog } from "@base-ui/react/dialog"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { Command } from "cmdk"
import { useEffect, useState } from "react"
import { api, ask } from "../api/client"
import { companyQuery, useCompanies } from "../kit/company"
import { useMay } from "../kit/queries"
import { words } from "../words/en"
import { named, ordered, type Place } from "./found"
import { instancePages, pages } from "./pages"

export default function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const admin = useMay("admin")
  const { slug } = useParams({ strict: false })
  const company = useQuery({ ...companyQuery(slug ?? ""), enabled: !!slug }).data?.company
  const mayWrite = useMay("write", company?.id)
  const companies = useCompanies()
  const [typed, setTyped] = useState("")
  const [asked, setAsked] = useState("")
  const [moved, setMoved] = useState<string>() // where the person has moved the mark
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed.trim()), 150)
    return () => clearTimeout(timer)
  }, [typed])
  const isAsked = !!company && asked === typed.trim() // what was found for other letters is not shown
  const agents = useQuery({
    queryKey: [company?.id, "agents", "palette", asked],
    enabled: isAsked && asked.length >= 2,
    queryFn: () =>
      ask(
        api.GET("/v1/companies/{id}/agents", {
          params: { path: { id: company?.id ?? "" }, query: { q: asked.slice(0, 200), limit: 10 } },
        }),
      ),
  })
  const number = /^#?(\d{1,15})$/.exec(asked)?.[1]
  const issues = useQuery({
    queryKey: [company?.id, "issues", "palette", asked],
    enabled: isAsked && (asked.length >= 2 || !!number),
    queryFn: () =>
      ask(
        api.GET("/v1/companies/{id}/issues", {
          params: {
            path: { id: company?.id ?? "" },
            query: number ? { number: Number(number) } : { q: asked.slice(0, 200), limit: 10 },
          },
        }),
      ),
  })
  const known: Place[] = [
    // The overview is the page of the company itself: it is found by either name, once.
    ...(slug
      ? pages.map(({ to, name }) => ({
          to: to.replace("$slug", slug),
          name,
          about: to === "/c/$slug" ? company?.name : undefined,
        }))
      : []),
    ...(slug && mayWrite ? [{ to: `/c/${slug}/issues?new=yes`, name: words.issues.create }] : []),
    { to: "/", name: words.nav.companies },
    { to: "/inbox", name: words.nav.allInboxes },
    ...(admin ? instancePages : []),
    ...(companies.data?.rows
      .filter((c) => c.slug !== slug)
      .map((c) => ({ to: `/c/${c.slug}`, name: c.name, about: c.slug })) ?? []),
  ]
  const found: Place[] =
    slug && isAsked
      ? [
          ...(agents.data?.data.map((a) => ({
            to: `/c/${slug}/agents/${a.id}`,
            name: a.name,
            about: words.nav.agents,
          })) ?? []),
          ...(issues.data?.data.map((one) => ({
            to: `/c/${slug}/issues/${one.number}`,
            name: words.shell.issue(one.number, one.title),
          })) ?? []),
        ]
      : []
  const rows = ordered(typed, known, found)
  const first = rows[0]?.to
  const go = (to: string) => {
    onClose()
    void navigate({ to })
  }
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog palette" aria-label={words.palette.label}>
          <Command
            label={words.palette.label}
            shouldFilter={false}
            value={named(rows, moved)?.to ?? first ?? ""}
            onValueChange={(to) => setMoved(to === first ? undefined : to)}
          >
            <Command.Input
              placeholder={words.palette.placeholder}
              value={typed}
              onValueChange={(next) => {
                setTyped(next)
                setMoved(undefined)
              }}
            />
            <Command.List>
              <Command.Empty>{words.palette.empty}</Command.Empty>
              {rows.map((row) => (
                <Command.Item key={row.to} value={row.to} onSelect={() => go(row.to)}>
                  {row.name} {row.about && <span className="muted">{row.about}</span>}
                </Command.Item>
              ))}
            </Command.List>
          </Command>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
