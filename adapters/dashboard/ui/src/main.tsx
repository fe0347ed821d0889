import { CSPProvider } from "@base-ui/react/csp-provider"
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { createRootRoute, createRoute, createRouter, RouterProvider, redirect } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { asApiError, repeat, wait } from "./api/errors"
import { over } from "./api/over"
import { begin } from "./kit/looks"
import { sessionQuery } from "./kit/queries"
import { texts } from "./kit/search"
import "./looks/tokens.css"
import "./looks/base.css"
import { Companies } from "./pages/companies/page"
import { SignIn, Start } from "./pages/signin/page"
import { lazyRouteComponent } from "./shell/lazy"
import { Missing, Shell } from "./shell/shell"

begin()

// signedOut asks whoever was signed in to sign in again, over the page that is open. Who was not is led to the sign-in page by the shell.
function signedOut(error: unknown) {
  const { pathname } = router.state.location
  if (asApiError(error).status !== 401 || pathname === "/login" || pathname === "/start") return
  if (queries.getQueryData(sessionQuery.queryKey)) over.set(true)
}

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: signedOut }),
  mutationCache: new MutationCache({ onError: signedOut }),
  defaultOptions: {
    queries: {
      networkMode: "always", // the server may be on this machine or its network: that the internet is away says nothing
      staleTime: 5_000,
      retry: (failures, error) => wait(error, failures) !== undefined,
      retryDelay: (failures, error) => wait(error, failures) ?? 0,
    },
    mutations: {
      networkMode: "always",
      retry: (failures, error) => repeat(error, failures) !== undefined,
      retryDelay: (failures, error) => repeat(error, failures) ?? 0,
    },
  },
})

const root = createRootRoute({ notFoundComponent: Missing })
const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  component: SignIn,
  validateSearch: (search: Record<string, unknown>): { to?: string } => ({
    // Only paths of this page: "//elsewhere" is another host.
    to: typeof search.to === "string" && /^\/(?!\/)/.test(search.to) ? search.to : undefined,
  }),
})
const start = createRoute({ getParentRoute: () => root, path: "/start", component: Start })
const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  component: Shell,
  beforeLoad: async ({ location }) => {
    try {
      await queries.ensureQueryData(sessionQuery)
    } catch (error) {
      if (asApiError(error).status === 401) throw redirect({ to: "/login", search: { to: location.href } })
      throw error
    }
  },
})
const companies = createRoute({
  getParentRoute: () => shell,
  path: "/",
  component: Companies,
  validateSearch: (search: Record<string, unknown>): { status?: "archived" } => ({
    status: search.status === "archived" ? "archived" : undefined,
  }),
})
const settings = createRoute({
  getParentRoute: () => shell,
  path: "/c/$slug/settings",
  component: lazyRouteComponent(() => import("./pages/settings/page"), "Settings"),
})
const inbox = createRoute({
  getParentRoute: () => shell,
  path: "/inbox",
  component: lazyRouteComponent(() => import("./pages/inbox/page"), "Inbox"),
  validateSearch: texts("open"),
})
const companyInbox = createRoute({
  getParentRoute: () => shell,
  path: "/c/$slug/inbox",
  component: lazyRouteComponent(() => import("./pages/inbox/page"), "CompanyInbox"),
  validateSearch: texts("open"),
})
const overview = createRoute({
  getParentRoute: () => shell,
  path: "/c/$slug",
  component: lazyRouteComponent(() => import("./pages/overview/page"), "Overview"),
})
const agents = createRoute({
  getParentRoute: () => shell,
  path: "/c/$slug/agents",
  component: lazyRouteComponent(() => import("./pages/agents/page"), "Agents"),
  validateSearch: texts("view", "status", "team", "adapter"),
})
const agent = createRoute({
  getParentRoute: () => shell,
  path: "/c/$slug/agents/$agent",
  component: lazyRouteComponent(() => import("./pages/agent/page"), "Agent"),
  validateSearch: texts("tab"),
})
const approvals = createRoute({
  getParentRoute: () => shell,
  path: "/c/$slug/approvals",
  component: lazyRouteComponent(() => import("./pages/approvals/page"), "Approvals"),
  validateSearch: texts("view", "status", "agent", "team", "open"),
})
const costs = createRoute({
  getParentRoute: () => shell,
  path: "/c/$slug/costs",
  component: lazyRouteComponent(() => import("./pages/costs/page"), "Costs"),
  validateSearch: texts("since", "by"),
})
const goals = createRoute({
  getParentRoute: () => shell,
  path: "/c/$slug/goals",
  component: lazyRouteComponent(() => import("./pages/goals/page"), "Goals"),
  validateSearch: texts("status", "open"),
})
const projects = createRoute({
  getParentRoute: () => shell,
  path: "/c/$slug/projects",
  component: lazyRouteComponent(() => import("./pages/projects/page"), "Projects"),
  validateSearch: texts("status", "goal", "open"),
})
const workflows = createRoute({
  getParentRoute: () => shell,
  path: "/c/$slug/workflows",
  component: lazyRouteComponent(() => import("./pages/workflows/page"), "Workflows"),
  validateSearch: texts("open"),
})
const secrets = createRoute({
  getParentRoute: () => shell,
  path: "/c/$slug/secrets",
  component: lazyRouteComponent(() => import("./pages/secrets/page"), "Secrets"),
})
const issues = createRoute({
  getParentRoute: () => shell,
  path: "/c/$slug/issues",
  component: lazyRouteComponent(() => import("./pages/issues/page"), "Issues"),
  validateSearch: texts(
    ...(["view", "new", "status", "agent", "team", "project", "goal", "workflow", "parent"] as const),
    ...(["label", "priority", "number", "q", "since", "until", "sort"] as const),
  ),
})
const issue = createRoute({
  getParentRoute: () => shell,
  path: "/c/$slug/issues/$number",
  component: lazyRouteComponent(() => import("./pages/issue/page"), "IssuePage"),
  validateSearch: texts("tab"),
})
const activity = createRoute({
  getParentRoute: () => shell,
  path: "/c/$slug/activity",
  component: lazyRouteComponent(() => import("./pages/activity/page"), "Activity"),
  validateSearch: texts("q", "category", "actor", "subject", "since", "until"),
})
const tokens = createRoute({
  getParentRoute: () => shell,
  path: "/instance/tokens",
  component: lazyRouteComponent(() => import("./pages/tokens/page"), "Tokens"),
})
const webhooks = createRoute({
  getParentRoute: () => shell,
  path: "/instance/webhooks",
  component: lazyRouteComponent(() => import("./pages/webhooks/page"), "Webhooks"),
  validateSearch: (search: Record<string, unknown>): { open?: string } => ({
    open: typeof search.open === "string" ? search.open : undefined,
  }),
})
const partners = createRoute({
  getParentRoute: () => shell,
  path: "/instance/partners",
  component: lazyRouteComponent(() => import("./pages/partners/page"), "Partners"),
})
const leads = createRoute({
  getParentRoute: () => shell,
  path: "/instance/leads",
  component: lazyRouteComponent(() => import("./pages/leads/page"), "Leads"),
  validateSearch: texts("kind", "status", "open"),
})
const instance = createRoute({
  getParentRoute: () => shell,
  path: "/instance",
  component: lazyRouteComponent(() => import("./pages/instance/page"), "InstancePage"),
})

const router = createRouter({
  routeTree: root.addChildren([
    login,
    start,
    shell.addChildren([
      companies,
      inbox,
      companyInbox,
      overview,
      settings,
      agents,
      agent,
      approvals,
      costs,
      goals,
      projects,
      workflows,
      secrets,
      issues,
      issue,
      activity,
      tokens,
      webhooks,
      partners,
      leads,
      instance,
    ]),
  ]),
  defaultNotFoundComponent: Missing,
})

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router
  }
}

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
)
