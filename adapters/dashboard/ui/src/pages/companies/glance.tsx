import { useQuery } from "@tanstack/react-query"
import { type ReactNode, useEffect, useRef, useState } from "react"
import { api, ask, type Schemas } from "../../api/client"
import { words } from "../../words/en"

interface GlanceProps {
  of: string // the id of a company
  children: (overview: Schemas["DashboardOverview"]) => ReactNode
}

// Glance shows something of the overview of a company, which is asked for once its row is in view.
export function Glance({ of: id, children }: GlanceProps) {
  const place = useRef<HTMLSpanElement>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (!place.current) return
    const watch = new IntersectionObserver((entries) => setSeen(entries.some((entry) => entry.isIntersecting)))
    watch.observe(place.current)
    return () => watch.disconnect()
  }, [])
  const { data, error } = useQuery({
    queryKey: [id, "dashboard", "overview"],
    queryFn: () => ask(api.GET("/v1/companies/{id}/dashboard/overview", { params: { path: { id } } })),
    enabled: isSeen,
    staleTime: 25_000,
    refetchInterval: 30_000,
  })
  return <span ref={place}>{data ? children(data.data) : error ? words.figures.none : "…"}</span>
}
