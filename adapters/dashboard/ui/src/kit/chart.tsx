import { useEffect, useId, useRef, useState } from "react"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"
import { words } from "../words/en"
import looks from "./chart.module.css"
import { day, dollars } from "./format"

export interface Day {
  date: string // of UTC, such as 2026-04-11
  usd: number | null // null: still to come
  expected?: { usd: number; low: number; high: number }
}

interface ChartProps {
  title: string
  summary: string
  days: Day[]
  limit?: number // of a day
}

const half = 43_200 // of a day, so that the first and the last bar are whole

const seconds = (date: string) => Date.parse(`${date}T00:00:00Z`) / 1000

// SpendChart shows what was spent on each day, and what is expected of the days to come.
export function SpendChart({ title, summary, days, limit }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState<number>()
  const id = useId()
  const isEmpty = days.every((one) => !one.usd && !one.expected?.usd)
  useEffect(() => {
    const box = place.current
    if (!box || isEmpty) return
    const draw = () => {
      const style = getComputedStyle(document.documentElement)
      const color = (name: string) => style.getPropertyValue(`--${name}`).trim()
      const axis = {
        stroke: color("muted"),
        grid: { stroke: color("line"), width: 1 },
        ticks: { show: false },
        font: `12px ${style.fontFamily || "sans-serif"}`,
      }
      const forecast = days.some((d) => d.expected)
      const clear = "rgba(0,0,0,0)"
      return new uPlot(
        {
          width: box.clientWidth,
          height: 200,
          tzDate: (ts) => uPlot.tzDate(new Date(ts * 1000), "Etc/UTC"),
          legend: { show: false },
          cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
          scales: {
            x: { time: true, range: (_, min, max) => [min - half, max + half] },
            y: { range: (_, __, max) => [0, Math.max(max * 1.1, limit ?? 0, 0.01)] },
          },
          axes: [
            {
              ...axis,
              size: 28,
              grid: { show: false },
              space: 64,
              values: (_, ticks) => ticks.map((t) => short.format(new Date(t * 1000))),
              incrs: [1, 2, 3, 7, 14, 28, 56, 91].map((n) => n * 86_400),
            },
            {
              ...axis,
              size: 64,
              values: (_, ticks) => ticks.map((usd) => dollars(usd, (ticks.at(-1) ?? 0) < 0.1 ? 4 : 2)),
            },
          ],
          series: [
            {},
            {
              stroke: color("accent"),
              fill: color("accent"),
              width: 0,
              paths: uPlot.paths.bars?.({ size: [0.7, 28] }),
              points: { show: false },
            },
            ...(forecast
              ? [
                  { stroke: clear, width: 0, points: { show: false } },
                  { stroke: clear, width: 0, points: { show: false } },
                  { stroke: color("accent"), width: 2, dash: [4, 4], points: { show: false } },
                ]
              : []),
            ...(limit === undefined
              ? []
              : [{ stroke: color("bad"), width: 1, dash: [2, 4], points: { show: false } } as uPlot.Series]),
          ],
          bands: forecast ? [{ series: [3, 2], fill: color("soft") }] : [],
          hooks: { setCursor: [(u) => setAt(u.cursor.idx ?? undefined)] },
        },
        [
          days.map((d) => seconds(d.date)),
          days.map((d) => d.usd),
          ...(forecast
            ? [
                days.map((d) => d.expected?.low ?? null),
                days.map((d) => d.expected?.high ?? null),
                days.map((d) => d.expected?.usd ?? null),
              ]
            : []),
          ...(limit === undefined ? [] : [days.map(() => limit)]),
        ] as uPlot.AlignedData,
        box,
      )
    }
    let plot = draw()
    const again = () => {
      plot.destroy()
      plot = draw()
    }
    const size = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: 200 }))
    size.observe(box)
    const theme = new MutationObserver(again)
    theme.observe(document.documentElement, { attributeFilter: ["data-looks"] })
    return () => {
      size.disconnect()
      theme.disconnect()
      plot.destroy()
    }
  }, [days, limit, isEmpty])
  const shown = at === undefined ? undefined : days[at]
  return (
    <figure className={`panel ${looks.chart}`} aria-labelledby={id}>
      <figcaption className={looks.head}>
        <h2 id={id}>{title}</h2>
        <p className="muted small">{shown ? `${day(shown.date)}: ${said(shown)}` : summary}</p>
      </figcaption>
      {isEmpty ? (
        <p className="muted">{words.figures.noneSpent}</p>
      ) : (
        <div ref={place} className={looks.plot} role="img" aria-label={`${title}. ${summary}`} />
      )}
      <details>
        <summary className="muted small">{words.figures.table}</summary>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{words.figures.day}</th>
              <th scope="col" className="number">
                {words.figures.spent}
              </th>
            </tr>
          </thead>
          <tbody>
            {days.map((d) => (
              <tr key={d.date}>
                <td className="first">{day(d.date)}</td>
                <td className="number">{said(d)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}

const short = new Intl.DateTimeFormat(undefined, { timeZone: "UTC", month: "short", day: "numeric" })

function said({ usd, expected }: Day): string {
  const spent = usd === null ? "" : dollars(usd)
  if (!expected) return spent
  const range = words.figures.between(dollars(expected.low), dollars(expected.high))
  return usd === null ? words.figures.expectedDay(range) : `${spent}; ${words.figures.expectedDay(range)}`
}
