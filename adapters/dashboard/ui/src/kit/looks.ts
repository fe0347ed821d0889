export type Looks = "system" | "light" | "dark"

const place = "holdco.looks"
const dark = matchMedia("(prefers-color-scheme: dark)")

export const looks = (): Looks => {
  const kept = localStorage.getItem(place)
  return kept === "light" || kept === "dark" ? kept : "system"
}

function show() {
  const now = looks()
  document.documentElement.dataset.looks = now === "system" ? (dark.matches ? "dark" : "light") : now
}

export function choose(next: Looks) {
  localStorage.setItem(place, next)
  show()
}

export function begin() {
  dark.addEventListener("change", show)
  show()
}
