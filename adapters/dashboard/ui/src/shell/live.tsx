import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect, useRef, useState, useSyncExternalStore } from "react"
import { live } from "../api/live"
import { over } from "../api/over"
import { companyQuery } from "../kit/company"
import { words } from "../words/en"

// Live keeps what is shown of a company up to date, and says so when it cannot.
export function Live({ slug }: { slug: string }) {
  const queries = useQueryClient()
  const cid = useQuery(companyQuery(slug)).data?.company.id
  const [isLive, setLive] = useState(true)
  const isOver = useSyncExternalStore(over.watch, over.is)
  const wasOver = useRef(false)
  if (isOver) wasOver.current = true
  useEffect(() => (cid && !isOver ? live(queries, cid, setLive, wasOver.current) : undefined), [queries, cid, isOver])
  return (
    <p className="notice" role="status" hidden={isLive}>
      {!isLive && words.shell.notLive}
    </p>
  )
}
