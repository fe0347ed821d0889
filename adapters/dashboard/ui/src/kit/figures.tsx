import type { ReactNode } from "react"
import { words } from "../words/en"
import looks from "./figures.module.css"
import { dollars } from "./format"

// Money has two decimals, and all on hover.
export const Money = ({ usd }: { usd: number | null | undefined }) =>
  usd === null || usd === undefined ? (
    <span className="muted">{words.figures.none}</span>
  ) : (
    <span className={looks.money} title={dollars(usd, 6)}>
      {dollars(usd)}
    </span>
  )

export interface Stat {
  name: string
  value: ReactNode
  about?: ReactNode
}

export const Stats = ({ of }: { of: Stat[] }) => (
  <dl className={looks.stats}>
    {of.map((one) => (
      <div key={one.name}>
        <dt>{one.name}</dt>
        <dd>
          {one.value}
          {one.about && <small>{one.about}</small>}
        </dd>
      </div>
    ))}
  </dl>
)

interface BudgetProps {
  of: string // what the budget is of
  spent: number
  held?: number
  limit: number // the most that may be spent
  full?: number // with the reserve, where there is one
}

// BudgetBar shows what is spent and held of a limit, with marks at four fifths of it, where warnings begin; at the limit itself; and at
// all there is with the reserve, at the end.
export function BudgetBar({ of, spent, held = 0, limit, full = limit }: BudgetProps) {
  const end = Math.max(limit, full, spent + held, 0.000001)
  const width = (usd: number) => `${Math.min(100, (100 * usd) / end)}%`
  const mood = spent >= limit ? looks.bad : spent * 5 >= limit * 4 ? looks.warning : looks.accent
  return (
    <div
      className={looks.bar}
      role="img"
      aria-label={words.figures.budget(of, dollars(spent), dollars(limit), dollars(held))}
    >
      <span className={mood} style={{ inlineSize: width(spent) }} />
      <span className={looks.held} style={{ inlineSize: width(held) }} />
      {limit > 0 && <span className={looks.mark} style={{ insetInlineStart: width(limit * 0.8) }} />}
      {limit > 0 && end > limit && <span className={looks.mark} style={{ insetInlineStart: width(limit) }} />}
    </div>
  )
}

interface ProgressProps {
  of: string
  done: number
  inFlight: number
  queued: number
  total: number
}

export function ProgressBar({ of, done, inFlight, queued, total }: ProgressProps) {
  const width = (n: number) => `${total ? (100 * n) / total : 0}%`
  return (
    <div className={looks.progress}>
      <div className={looks.bar} role="img" aria-label={`${of}: ${words.figures.progress(done, inFlight, queued)}`}>
        <span className={looks.good} style={{ inlineSize: width(done) }} />
        <span className={looks.accent} style={{ inlineSize: width(inFlight) }} />
        <span className={looks.held} style={{ inlineSize: width(queued) }} />
      </div>
      <p className="muted small">{total ? words.figures.progress(done, inFlight, queued) : words.figures.noProgress}</p>
    </div>
  )
}
