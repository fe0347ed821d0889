const staleAfter = 90 * 86_400_000

// isStale reports whether a secret got its value too long ago.
export const isStale = (rotatedAt: string, now: number) => now - Date.parse(rotatedAt) >= staleAfter

// secretsIn are the names of the secrets that the variables of an agent refer to: {"env": {"KEY": {"secret": "NAME"}}}.
export function secretsIn(config: Record<string, unknown>): Set<string> {
  const names = new Set<string>()
  for (const value of Object.values((config.env ?? {}) as object)) {
    const name = (value as { secret?: unknown } | null)?.secret
    if (typeof name === "string") names.add(name)
  }
  return names
}
