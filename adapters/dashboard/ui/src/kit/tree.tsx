import looks from "./tree.module.css"

const isTree = (value: unknown): value is object => typeof value === "object" && value !== null

// most is how many values are shown as a tree, and deepest how deep: more take a browser long, or leave the page.
const most = 300
const deepest = 6

function isBig(of: object): boolean {
  let level: object[] = [of]
  let seen = 0
  for (let depth = 0; level.length; depth++) {
    const values = level.flatMap((one) => Object.values(one))
    seen += values.length
    if (seen > most || depth >= deepest) return true
    level = values.filter(isTree)
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
