export const place = "holdco.keys"

// keysAreOn reports whether single keys do something: some people type by voice, and turn them off.
export const keysAreOn = () => localStorage.getItem(place) !== "off"

export const isTyping = (of: EventTarget | null) =>
  of instanceof HTMLElement && (of.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(of.tagName))
