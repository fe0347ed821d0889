import { Menu } from "@base-ui/react/menu"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, Outlet, useNavigate, useParams } from "@tanstack/react-router"
import { Building2, ChevronsUpDown, CircleUser, Ellipsis, Inbox, Search } from "lucide-react"
import { lazy, Suspense, useCallback, useState } from "react"
import { signOut } from "../api/client"
import { companyQuery, useCompanies } from "../kit/company"
import { choose, type Looks, looks } from "../kit/looks"
import { useMay, useSession } from "../kit/queries"
import { words } from "../words/en"
import { Keys } from "./keys"
import { Live } from "./live"
import { Over } from "./over"
import { instancePages, pages } from "./pages"
import { Title } from "./title"

const Palette = lazy(() => import("./palette"))

const isPrivate = location.protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname)

export function Shell() {
  const [searching, setSearching] = useState(false)
  const admin = useMay("admin")
  const { slug } = useParams({ strict: false })
  const search = useCallback(() => setSearching(true), [])
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
          <Link to="/inbox" activeOptions={{ includeSearch: false }}>
            <Inbox size={16} aria-hidden />
            {words.nav.allInboxes}
          </Link>
        </div>
        {slug && (
          <div>
            <CompanySwitch slug={slug} />
            {pages.map((page) => (
              <Link
                key={page.to}
                to={page.to}
                params={{ slug }}
                activeOptions={{ exact: page.to === "/c/$slug", includeSearch: false }}
              >
                <page.icon size={16} aria-hidden />
                {page.name}
              </Link>
            ))}
          </div>
        )}
        {admin && (
          <div>
            <h2>{words.nav.instance}</h2>
            {instancePages.map((page) => (
              <Link key={page.to} to={page.to} activeOptions={{ exact: page.to === "/instance", includeSearch: false }}>
                <page.icon size={16} aria-hidden />
                {page.name}
              </Link>
            ))}
          </div>
        )}
      </nav>
      <div>
        <header className="bar">
          <button type="button" className="button" onClick={search}>
            <Search size={16} aria-hidden />
            {words.palette.open}
          </button>
          {slug && <CompanySwitch slug={slug} />}
          <span className="space" />
          <Account />
        </header>
        {!isPrivate && (
          <p className="notice" role="note">
            {words.unencrypted}
          </p>
        )}
        <Title />
        {slug && <Live key={slug} slug={slug} />}
        <main className="page stack" id="content" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
      <nav className="bottom" aria-label={words.nav.main}>
        {slug ? (
          pages
            .filter((page) => page.thumb)
            .map((page) => (
              <Link
                key={page.to}
                to={page.to}
                params={{ slug }}
                activeOptions={{ exact: page.to === "/c/$slug", includeSearch: false }}
              >
                <page.icon size={20} aria-hidden />
                {page.name}
              </Link>
            ))
        ) : (
          <>
            <Link to="/inbox" activeOptions={{ includeSearch: false }}>
              <Inbox size={20} aria-hidden />
              {words.nav.inbox}
            </Link>
            <Link to="/" activeOptions={{ exact: true, includeSearch: false }}>
              <Building2 size={20} aria-hidden />
              {words.nav.companies}
            </Link>
          </>
        )}
        {(slug || admin) && <MorePages slug={slug} admin={admin} />}
      </nav>
      <Keys slug={slug} onSearch={search} />
      <Over />
      {searching && (
        <Suspense>
          <Palette onClose={() => setSearching(false)} />
        </Suspense>
      )}
    </div>
  )
}

// MorePages is what has no place in the bar of a phone.
function MorePages({ slug, admin }: { slug: string | undefined; admin: boolean }) {
  const navigate = useNavigate()
  return (
    <Menu.Root>
      <Menu.Trigger className="more">
        <Ellipsis size={20} aria-hidden />
        {words.shell.more}
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner align="end" sideOffset={4}>
          <Menu.Popup className="menu">
            {slug && (
              <>
                {pages
                  .filter((page) => !page.thumb)
                  .map((page) => (
                    <Menu.Item key={page.to} onClick={() => navigate({ to: page.to, params: { slug } })}>
                      {page.name}
                    </Menu.Item>
                  ))}
                <Menu.Item onClick={() => navigate({ to: "/" })}>{words.nav.companies}</Menu.Item>
              </>
            )}
            {admin &&
              instancePages.map((page) => (
                <Menu.Item key={page.to} onClick={() => navigate({ to: page.to })}>
                  {page.name}
                </Menu.Item>
              ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

// CompanySwitch names the company in view, and goes to others.
function CompanySwitch({ slug }: { slug: string }) {
  const navigate = useNavigate()
  const [open, setOpen] = useState(false)
  const companies = useCompanies(open)
  const name = useQuery(companyQuery(slug)).data?.company.name ?? slug
  return (
    <Menu.Root open={open} onOpenChange={setOpen}>
      <Menu.Trigger className="switch" aria-label={`${words.shell.switchTo}: ${name}`}>
        <span>{name}</span>
        <ChevronsUpDown size={14} aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner align="start" sideOffset={4}>
          <Menu.Popup className="menu">
            {companies.data?.rows.map((one) => (
              <Menu.Item key={one.id} onClick={() => navigate({ to: "/c/$slug", params: { slug: one.slug } })}>
                {one.name.length > 40 ? `${one.name.slice(0, 39)}…` : one.name}
              </Menu.Item>
            ))}
            <Menu.Item onClick={() => navigate({ to: "/" })}>{words.shell.all}</Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
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
