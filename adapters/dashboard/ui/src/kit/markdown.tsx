import type { Nodes } from "mdast"
import { fromMarkdown } from "mdast-util-from-markdown"
import { Fragment, type ReactNode, useMemo } from "react"
import looks from "./markdown.module.css"

// Only these lead somewhere: an address that runs a script must not.
const isAddress = (url: string) => /^(https?:|mailto:|\/(?!\/)|#)/i.test(url)

const toLink = (url: string, children: ReactNode, key: number) =>
  isAddress(url) ? (
    <a key={key} href={url} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ) : (
    <Fragment key={key}>{children}</Fragment>
  )

// marks are what Markdown is made of. Of very many, or very deep ones, reading it takes minutes: such a text is shown as it was written.
const marks = /[\n*_[\]<>`&~!]/g
const isPlain = (text: string) =>
  (text.match(marks)?.length ?? 0) > 1_500 || /^(?:[ \t]*(?:[>*+-]|\d+[.)])){20}/m.test(text)

function element(of: Nodes, key: number): ReactNode {
  const inner = () => ("children" in of ? of.children.map(element) : null)
  switch (of.type) {
    case "root":
      return <Fragment key={key}>{inner()}</Fragment>
    case "paragraph":
      return <p key={key}>{inner()}</p>
    case "heading":
      return (
        <p key={key} className={looks.heading}>
          {inner()}
        </p>
      )
    case "text":
      return of.value
    case "html": // is shown as it was written
      return <code key={key}>{of.value}</code>
    case "emphasis":
      return <em key={key}>{inner()}</em>
    case "strong":
      return <strong key={key}>{inner()}</strong>
    case "inlineCode":
      return <code key={key}>{of.value}</code>
    case "code":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keyboard
        <pre key={key} tabIndex={0}>
          <code>{of.value}</code>
        </pre>
      )
    case "blockquote":
      return <blockquote key={key}>{inner()}</blockquote>
    case "list":
      return of.ordered ? (
        <ol key={key} start={of.start ?? 1}>
          {inner()}
        </ol>
      ) : (
        <ul key={key}>{inner()}</ul>
      )
    case "listItem":
      return <li key={key}>{inner()}</li>
    case "break":
      return <br key={key} />
    case "thematicBreak":
      return <hr key={key} />
    case "link":
      return toLink(of.url, inner(), key)
    case "image": // a link: nothing is loaded from elsewhere
      return toLink(of.url, of.alt || of.url, key)
    default:
      return <Fragment key={key}>{inner()}</Fragment>
  }
}

// Markdown shows a text in Markdown. HTML in it stays text, and an image is a link.
export function Markdown({ children }: { children: string }) {
  const shown = useMemo(() => (isPlain(children) ? undefined : element(fromMarkdown(children), 0)), [children])
  return (
    <div className={looks.markdown} dir="auto">
      {shown ?? <p className={looks.plain}>{children}</p>}
    </div>
  )
}
