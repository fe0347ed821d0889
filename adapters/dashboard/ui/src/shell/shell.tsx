import { Menu } from "@base-ui/react/menu"
import { useQueryClient } from "@tanstack/react-query"
import { Link, Outlet, useNavigate, useParams } from "@tanstack/react-router"
import {
  Bot,
  Building2,
  CircleDollarSign,
  CircleUser,
  FolderKanban,
  KeyRound,
  Lock,
  Search,
  Settings2,
  Target,
  Users,
  Webhook,
  Workflow,
} from "lucide-react"
import { lazy, Suspense, useEffect, useState } from "react"
import { signOut } from "../api/client"
import { choose, type Looks, looks } from "../kit/looks"
import { useMay, useSession } from "../kit/queries"
import { words } from "../words/en"

const Palette = lazy(() => import("./palette"))

const isPrivate = location.protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname)

const companyPages = [
  { to: "/c/$slug/agents", name: words.nav.agents, icon: Bot },
  { to: "/c/$slug/costs", name: words.nav.costs, icon: CircleDollarSign },
  { to: "/c/$slug/goals", name: words.nav.goals, icon: Target },
  { to: "/c/$slug/projects", name: words.nav.projects, icon: FolderKanban },
  { to: "/c/$slug/workflows", name: words.nav.workflows, icon: Workflow },
  { to: "/c/$slug/secrets", name: words.nav.secrets, icon: Lock },
] as const

const instancePages = [
  { to: "/instance/tokens", name: words.nav.tokens, icon: KeyRound },
  { to: "/instance/webhooks", name: words.nav.webhooks, icon: Webhook },
  { to: "/instance/partners", name: words.nav.partners, icon: Users },
] as const

export function Shell() {
  const [searching, setSearching] = useState(false)
  const admin = useMay("admin")
  const { slug } = useParams({ strict: false })
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault()
        setSearching(true)
      }
    }
    addEventListener("keydown", keys)
    return () => removeEventListener("keydown", keys)
  }, [])
  return (
    <div className="shell">
      <a className="hidden skip" href="#content">
        {words.skip}
      </a>
      <nav className="rail" aria-label={words.nav.main}>
        <div className="brand">
          <img src="/icon.svg" alt="" width={20} height={20} />
          {words.product}
        </div>
        <div>
          <Link to="/" activeOptions={{ exact: true, includeSearch: false }}>
            <Building2 size={16} aria-hidden />
            {words.nav.companies}
          </Link>
        </div>
        {slug && (
          <div>
            <h2>{slug}</h2>
            {companyPages.map((page) => (
              <Link key={page.to} to={page.to} params={{ slug }}>
                <page.icon size={16} aria-hidden />
                {page.name}
              </Link>
            ))}
            <Link to="/c/$slug/settings" params={{ slug }}>
              <Settings2 size={16} aria-hidden />
              {words.nav.settings}
            </Link>
          </div>
        )}
        {admin && (
          <div>
            <h2>{words.nav.instance}</h2>
            {instancePages.map((page) => (
              <Link key={page.to} to={page.to}>
                <page.icon size={16} aria-hidden />
                {page.name}
              </Link>
            ))}
          </div>
        )}
      </nav>
      <div>
        <header className="bar">
          <button type="button" className="button" onClick={() => setSearching(true)}>
            <Search size={16} aria-hidden />
            {words.palette.open}
          </button>
          <span className="space" />
          <Account />
        </header>
        {!isPrivate && (
          <p className="notice" role="note">
            {words.unencrypted}
          </p>
        )}
        <main className="page stack" id="content" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
      <nav className="bottom" aria-label={words.nav.main}>
        <Link to="/" activeOptions={{ exact: true, includeSearch: false }}>
          <Building2 size={20} aria-hidden />
          {words.nav.companies}
        </Link>
        {admin &&
          instancePages.map((page) => (
            <Link key={page.to} to={page.to}>
              <page.icon size={20} aria-hidden />
              {page.name}
            </Link>
          ))}
      </nav>
      {searching && (
        <Suspense>
          <Palette onClose={() => setSearching(false)} />
        </Suspense>
      )}
    </div>
  )
}

function Account() {
  const who = useSession()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [chosen, setChosen] = useState<Looks>(looks)
  const leave = async () => {
    await signOut()
    queries.clear()
    await navigate({ to: "/login" })
  }
  return (
    <Menu.Root>
      <Menu.Trigger className="button plain icon" aria-label={words.account.label}>
        <CircleUser size={18} aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner align="end" sideOffset={4}>
          <Menu.Popup className="menu">
            <p className="muted small">
              {words.account.as(who?.name ?? "")}
              <br />
              {words.account.version(who?.version ?? "")}
            </p>
            <Menu.RadioGroup
              aria-label={words.looks.label}
              value={chosen}
              onValueChange={(next: Looks) => {
                choose(next)
                setChosen(next)
              }}
            >
              {(["system", "light", "dark"] as const).map((one) => (
                <Menu.RadioItem key={one} value={one} closeOnClick>
                  <span aria-hidden>{chosen === one ? "●" : "○"}</span>&nbsp;{words.looks[one]}
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            <Menu.Item onClick={leave}>{words.account.signOut}</Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

export const Missing = () => (
  <div className="empty">
    <h1>{words.notFound.title}</h1>
    <Link to="/">{words.notFound.back}</Link>
  </div>
)
