import { Dialog } from "@base-ui/react/dialog"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { Command } from "cmdk"
import { useEffect, useState } from "react"
import { api, ask } from "../api/client"
import { companyQuery } from "../kit/company"
import { useMay } from "../kit/queries"
import { words } from "../words/en"
import { instancePages, pages } from "./pages"

export default function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const admin = useMay("admin")
  const companies = useQuery({
    queryKey: ["companies", "palette"],
    queryFn: () => ask(api.GET("/v1/companies", { params: { query: { limit: 100 } } })),
  })
  const { slug } = useParams({ strict: false })
  const [typed, setTyped] = useState("")
  const [asked, setAsked] = useState("")
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed.trim()), 150)
    return () => clearTimeout(timer)
  }, [typed])
  const company = useQuery({ ...companyQuery(slug ?? ""), enabled: !!slug }).data?.company
  const agents = useQuery({
    queryKey: [company?.id, "agents", "palette", asked],
    enabled: !!company && asked.length >= 2,
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
    enabled: !!company && (asked.length >= 2 || !!number),
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
  const go = (to: string) => {
    onClose()
    void navigate({ to })
  }
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog palette" aria-label={words.palette.label}>
          <Command label={words.palette.label}>
            <Command.Input placeholder={words.palette.placeholder} value={typed} onValueChange={setTyped} />
            <Command.List>
              <Command.Empty>{words.palette.empty}</Command.Empty>
              {slug &&
                pages.map((page) => (
                  <Command.Item key={page.to} onSelect={() => go(page.to.replace("$slug", slug))}>
                    {page.name}
                  </Command.Item>
                ))}
              {slug && (
                <Command.Item onSelect={() => go(`/c/${slug}/issues?new=yes`)}>{words.issues.create}</Command.Item>
              )}
              {slug &&
                asked.length >= 2 &&
                agents.data?.data.map((a) => (
                  <Command.Item key={a.id} value={`${asked} ${a.id}`} onSelect={() => go(`/c/${slug}/agents/${a.id}`)}>
                    {a.name} <span className="muted">{words.nav.agents}</span>
                  </Command.Item>
                ))}
              {slug &&
                issues.data?.data.map((one) => (
                  <Command.Item
                    key={one.id}
                    value={`${asked} ${one.id}`}
                    onSelect={() => go(`/c/${slug}/issues/${one.number}`)}
                  >
                    {words.shell.issue(one.number, one.title)}
                  </Command.Item>
                ))}
              <Command.Item onSelect={() => go("/")}>{words.nav.companies}</Command.Item>
              {admin &&
                instancePages.map((page) => (
                  <Command.Item key={page.to} onSelect={() => go(page.to)}>
                    {page.name}
                  </Command.Item>
                ))}
              {companies.data?.data.map((c) => (
                <Command.Item key={c.id} value={`${c.name} ${c.slug}`} onSelect={() => go(`/c/${c.slug}/issues`)}>
                  {c.name} <span className="muted">{c.slug}</span>
                </Command.Item>
              ))}
            </Command.List>
          </Command>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
