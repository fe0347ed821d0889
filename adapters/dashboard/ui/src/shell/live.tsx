import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import { live } from "../api/live"
import { companyQuery } from "../kit/company"
import { words } from "../words/en"

// Live keeps what is shown of a company up to date, and says so when it cannot.
export function Live({ slug }: { slug: string }) {
  const queries = useQueryClient()
  const cid = useQuery(companyQuery(slug)).data?.company.id
  const [isLive, setLive] = useState(true)
  useEffect(() => (cid ? live(queries, cid, setLive) : undefined), [queries, cid])
  return (
    <p className="notice" role="status" hidden={isLive}>
      {!isLive && words.shell.notLive}
    </p>
  )
}
