import type { Category } from "../../api/client"

// What happens to the instance stands in no activity of a company.
type OfInstance = "backup" | "campaign" | "import" | "key" | "lead" | "partner" | "taxonomy" | "token" | "webhook"

export const activity = {
  title: "Activity",
  pause: "Pause",
  resume: "Go on",
  csv: "Export CSV",
  jsonl: "Export JSON Lines",
  search: "Search the activity",
  category: "Category",
  categories: {
    agent: "Agents",
    approval: "Approvals",
    budget: "Budgets and costs",
    company: "The company",
    goal: "Goals",
    project: "Projects",
    run: "Runs",
    secret: "Secrets",
    store: "The store",
    task: "Issues",
    team: "Teams",
    workflow: "Workflows",
  } satisfies Record<Exclude<Category, OfInstance>, string>,
  actor: "Actor",
  subject: "Subject",
  since: "Since",
  until: "Before",
  payload: "Details",
  empty: "Nothing happened yet",
  emptyText: "Every change in the company stands here, with who made it.",
  by: "by",
  none: "–",
}
