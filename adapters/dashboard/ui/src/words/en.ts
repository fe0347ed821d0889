import { activity } from "./en/activity"
import { agent } from "./en/agent"
import { agents } from "./en/agents"
import { approvals } from "./en/approvals"
import { companies } from "./en/companies"
import { company } from "./en/company"
import { costs } from "./en/costs"
import { figures } from "./en/figures"
import { goals } from "./en/goals"
import { inbox } from "./en/inbox"
import { instance } from "./en/instance"
import { issue } from "./en/issue"
import { issues } from "./en/issues"
import { leads } from "./en/leads"
import { overview } from "./en/overview"
import { palette } from "./en/palette"
import { partners } from "./en/partners"
import { secrets } from "./en/secrets"
import { shell } from "./en/shell"
import { signIn } from "./en/signin"
import { tokens } from "./en/tokens"
import { webhooks } from "./en/webhooks"
import { work } from "./en/work"
import { workflows } from "./en/workflows"

// Every sentence that is shown. Another language is another object of the type Words.
export const en = {
  activity,
  agent,
  agents,
  approvals,
  companies,
  company,
  costs,
  figures,
  goals,
  inbox,
  instance,
  issue,
  issues,
  leads,
  overview,
  palette,
  partners,
  secrets,
  shell,
  signIn,
  tokens,
  webhooks,
  work,
  workflows,
  product: "Holdco",
  skip: "Skip to the content",
  unencrypted: "This connection is not encrypted: others on the network can read what you do here.",
  retry: "Try again",
  offline: "The server does not answer.",
  failed: (code: string, request: string) => (request ? `${code} · request ${request}` : code),
  retryAfter: (seconds: number) => `takes it again in ${seconds} s`,
  missingScope: (scope: string) => `Your token does not have the scope ${scope}.`,
  readOnly: "Your token may read this, and change nothing of it.",
  save: "Save",
  saved: "Saved",
  cancel: "Cancel",
  close: "Close",
  copy: "Copy",
  copied: "Copied",
  more: "More",
  actions: (of: string) => `Actions for ${of}`,
  never: "never",
  none: "None",
  loadMore: "Show more",
  loading: "Loading",
  notFound: { title: "There is no such page", back: "To the companies" },
  nav: {
    main: "Main",
    companies: "Companies",
    settings: "Settings",
    activity: "Activity",
    inbox: "Inbox",
    allInboxes: "All inboxes",
    overview: "Overview",
    agents: "Agents",
    issues: "Issues",
    approvals: "Approvals",
    costs: "Costs",
    goals: "Goals",
    projects: "Projects",
    workflows: "Workflows",
    secrets: "Secrets",
    instance: "Instance",
    tokens: "API tokens",
    webhooks: "Webhooks",
    partners: "Partners",
    leads: "Leads",
    server: "Server",
  },
  looks: { label: "Looks", system: "As the system", light: "Light", dark: "Dark" },
  account: {
    label: "Account",
    signOut: "Sign out",
    as: (name: string) => `Signed in as ${name}`,
    version: (v: string) => `Holdco ${v}`,
  },
}

export type Words = typeof en

export const words: Words = en
