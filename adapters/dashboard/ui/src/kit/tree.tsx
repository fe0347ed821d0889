import looks from "./tree.module.css"

const isTree = (value: unknown): value is object => typeof value === "object" && value !== null

// Tree shows JSON, what is within at a deeper indent.
export function Tree({ of }: { of: unknown }) {
  if (!isTree(of)) return <span className="mono">{typeof of === "string" ? of : JSON.stringify(of)}</span>
  return (
    <dl className={looks.tree}>
      {Object.entries(of).map(([name, value]) => (
        <div key={name} className={isTree(value) ? undefined : looks.leaf}>
          <dt className="muted">{name}</dt>
          <dd>
            <Tree of={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}
