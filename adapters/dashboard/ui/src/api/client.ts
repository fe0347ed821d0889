import createClient from "openapi-fetch"
import { ApiError, refusal, unreachable } from "./errors"
import type { components, paths } from "./schema"

export type Schemas = components["schemas"]

// Category is one of those that entries of the activity have.
export type Category = components["parameters"]["ActivityCategory"][number]

// api asks the server that the page came from; the cookie of the session goes along.
// Several values of a parameter are separated by commas, as the API has them.
export const api = createClient<paths>({
  baseUrl: location.origin,
  fetch: (request) =>
    fetch(request).catch(() => {
      throw unreachable(request.method === "GET" || request.headers.has("Idempotency-Key"))
    }),
  querySerializer: { array: { style: "form", explode: false } },
})

interface Answered<T> {
  data?: T
  error?: unknown
  response: Response
}

// cut is what became of an answer that did not arrive, or ended halfway.
const cut = (error: unknown): never => {
  throw error instanceof ApiError ? error : unreachable()
}

const probe = (path: string) =>
  fetch(path).then(
    (response) => response.ok,
    () => false,
  )

// answers reports whether the server is there, ready whether its store can be written to, too.
export const answers = () => probe("/healthz")
export const ready = () => probe("/readyz")

// ask is the body of an answer, or throws an ApiError.
export async function ask<T>(answer: Promise<Answered<T>>): Promise<T> {
  const got = await answer.catch(cut)
  if (!got.response.ok) throw refusal(got.response, got.error)
  return got.data as T
}

// seen is ask with the version of what was answered, for If-Match.
export async function seen<T>(answer: Promise<Answered<T>>): Promise<{ body: T; etag: string }> {
  const got = await answer.catch(cut)
  if (!got.response.ok) throw refusal(got.response, got.error)
  return { body: got.data as T, etag: got.response.headers.get("ETag") ?? "" }
}

// once is a new idempotency key. randomUUID is missing where the page is not encrypted.
export function once(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("")
}

export interface Session {
  tokenId: string
  name: string
  scopes: string[]
  hint: string
  expiresAt: string
  version: string
}

async function session(method: string, body?: unknown): Promise<Session | undefined> {
  const response = await fetch("/session", {
    method,
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body ? JSON.stringify(body) : undefined,
  }).catch(() => {
    throw unreachable()
  })
  const text = await response.text()
  const parsed = text ? JSON.parse(text) : undefined
  if (!response.ok) throw refusal(response, parsed)
  return parsed?.data
}

export const signIn = (credentials: { token: string } | { code: string }) => session("POST", credentials)
export const signOut = () => session("DELETE")
export const whoIsSignedIn = () => session("GET") as Promise<Session>

// may reports whether a session is granted a permission everywhere, or in the company with an id.
export const may = (who: Session | undefined, permission: "read" | "write" | "admin", company?: string) =>
  !!who &&
  (who.scopes.includes("admin") ||
    who.scopes.includes(permission) ||
    (!!company && who.scopes.includes(`company:${company}:${permission}`)))
