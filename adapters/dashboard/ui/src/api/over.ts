// over tells whether the session ended while a page was open. What is on the page stays there until somebody signs in again.
let isOver = false
const watchers = new Set<() => void>()

export const over = {
  is: () => isOver,
  set: (now: boolean) => {
    isOver = now
    for (const tell of watchers) tell()
  },
  watch: (tell: () => void) => {
    watchers.add(tell)
    return () => watchers.delete(tell)
  },
}
