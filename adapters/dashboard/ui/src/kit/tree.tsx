import looks from "./tree.module.css"

const isTree = (value: unknown): value is object => typeof value === "object" && value !== null

// most is how many values are shown as a tree: of more, a browser makes heavy weather.
const most = 300

// isBig reports whether something has more than so many values.
function isBig(of: object): boolean {
  const left: object[] = [of]
  for (let seen = 0; left.length; ) {
    const values = Object.values(left.pop() ?? {})
    seen += values.length
    if (seen > most) return true
    left.push(...values.filter(isTree))
  }
  return false
}

// Json shows JSON as text.
export const Json = ({ of }: { of: unknown }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keyboard
  <pre className={looks.json} tabIndex={0}>
    {typeof of === "string" ? of : JSON.stringify(of, null, 1)}
  </pre>
)

// Tree shows JSON, what is within at a deeper indent.
export const Tree = ({ of }: { of: unknown }) => (isTree(of) && isBig(of) ? <Json of={of} /> : <Branch of={of} />)

function Branch({ of }: { of: unknown }) {
  if (!isTree(of)) return <span className="mono">{typeof of === "string" ? of : JSON.stringify(of)}</span>
  return (
    <dl className={looks.tree}>
      {Object.entries(of).map(([name, value]) => (
        <div key={name} className={isTree(value) ? undefined : looks.leaf}>
          <dt className="muted">{name}</dt>
          <dd>
            <Branch of={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}
