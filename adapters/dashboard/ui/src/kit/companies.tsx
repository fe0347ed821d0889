import { useMutation } from "@tanstack/react-query"
import { api, ask, type Schemas } from "../api/client"
import { words } from "../words/en"
import { Confirm, Pill } from "./parts"
import { useStale } from "./queries"

type Company = Schemas["Company"]

export interface CompanyMove {
  what: "archive" | "restore" | "remove"
  to: Company
  key: string
}

export function CompanyState({ of }: { of: Company }) {
  if (of.status === "archived") return <Pill mood="quiet">{words.companies.archived}</Pill>
  if (of.status !== "active") return <Pill mood="warning">{words.companies.deleting}</Pill>
  if (of.workPaused) return <Pill mood="warning">{words.companies.paused}</Pill>
  return <Pill mood="good">{words.companies.activeState}</Pill>
}

interface MoveProps {
  move: CompanyMove
  onClose: () => void
  onDone?: () => void
}

// MoveCompany asks before it archives, restores or deletes a company.
export function MoveCompany({ move: { what, to, key }, onClose, onDone }: MoveProps) {
  const stale = useStale("companies", "company")
  const run = useMutation<unknown>({
    mutationFn: () => {
      const path = { id: to.id }
      const params = { path, header: { "Idempotency-Key": key } }
      if (what === "archive") return ask(api.POST("/v1/companies/{id}/archive", { params }))
      if (what === "restore") return ask(api.POST("/v1/companies/{id}/restore", { params }))
      return ask(api.DELETE("/v1/companies/{id}", { params: { path } }))
    },
    onSuccess: async () => {
      onDone?.()
      await stale()
      onClose()
    },
  })
  const asked = {
    archive: { title: words.companies.archiveTitle(to.name), text: words.companies.archiveText },
    restore: { title: words.companies.restoreTitle(to.name), text: words.companies.restoreText },
    remove: { title: words.companies.removeTitle(to.name), text: words.companies.removeText(to.slug) },
  }[what]
  return (
    <Confirm
      {...asked}
      submit={words.companies[what]}
      type={what === "remove" ? to.slug : undefined}
      busy={run.isPending}
      error={run.error}
      onSubmit={run.mutate}
      onClose={onClose}
    />
  )
}
