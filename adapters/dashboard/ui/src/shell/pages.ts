import {
  Activity,
  Bot,
  CircleDollarSign,
  CircleDot,
  FileUp,
  FolderKanban,
  Inbox as InboxIcon,
  KeyRound,
  LayoutDashboard,
  Lock,
  type LucideIcon,
  Server,
  Settings2,
  Stamp,
  Target,
  Users,
  Webhook,
  Workflow,
} from "lucide-react"
import { words } from "../words/en"

// pages are those of a company: key is what comes after g, thumb says that a phone has it in its bar.
const known = [
  { to: "/c/$slug/inbox", name: words.nav.inbox, icon: InboxIcon, key: "i", thumb: true },
  { to: "/c/$slug", name: words.nav.overview, icon: LayoutDashboard, key: "o", thumb: true },
  { to: "/c/$slug/issues", name: words.nav.issues, icon: CircleDot, key: "s", thumb: true },
  { to: "/c/$slug/agents", name: words.nav.agents, icon: Bot, key: "a" },
  { to: "/c/$slug/approvals", name: words.nav.approvals, icon: Stamp },
  { to: "/c/$slug/costs", name: words.nav.costs, icon: CircleDollarSign, key: "c" },
  { to: "/c/$slug/goals", name: words.nav.goals, icon: Target },
  { to: "/c/$slug/projects", name: words.nav.projects, icon: FolderKanban },
  { to: "/c/$slug/workflows", name: words.nav.workflows, icon: Workflow },
  { to: "/c/$slug/activity", name: words.nav.activity, icon: Activity, key: "y" },
  { to: "/c/$slug/secrets", name: words.nav.secrets, icon: Lock },
  { to: "/c/$slug/settings", name: words.nav.settings, icon: Settings2 },
] as const

interface Page {
  to: (typeof known)[number]["to"]
  name: string
  icon: LucideIcon
  key?: string
  thumb?: boolean
}

export const pages: readonly Page[] = known

// instancePages are those of the whole instance, for who has the scope admin.
export const instancePages = [
  { to: "/instance/tokens", name: words.nav.tokens, icon: KeyRound },
  { to: "/instance/webhooks", name: words.nav.webhooks, icon: Webhook },
  { to: "/instance/partners", name: words.nav.partners, icon: Users },
  { to: "/instance/leads", name: words.nav.leads, icon: FileUp },
  { to: "/instance", name: words.nav.server, icon: Server },
] as const
