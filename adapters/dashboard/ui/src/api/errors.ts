import { words } from "../words/en"

export interface FieldError {
  field: string
  code: string
  message: string
}

// ApiError is a refusal of the server, or that it does not answer: then code is "unreachable".
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string,
    readonly details: { fields?: FieldError[]; required?: string },
    readonly retryAfter: number, // seconds
    readonly isRepeatable = false, // sent twice, it is done once
  ) {
    super(message)
  }

  // of is what is wrong with a field; its path may be longer.
  of(field: string): string | undefined {
    return this.details.fields?.find((f) => f.field === field || f.field.startsWith(`${field}.`))?.message
  }
}

interface Envelope {
  error?: { code?: string; message?: string; details?: ApiError["details"] }
  meta?: { requestId?: string }
}

export function refusal(response: Response, body: unknown): ApiError {
  const { error, meta } = (body ?? {}) as Envelope
  return new ApiError(
    response.status,
    error?.code ?? `http_${response.status}`,
    error?.message ?? words.offline,
    meta?.requestId ?? response.headers.get("X-Request-Id") ?? "",
    error?.details ?? {},
    Number(response.headers.get("Retry-After") ?? 0),
  )
}

export const unreachable = (isRepeatable = false) =>
  new ApiError(0, "unreachable", words.offline, "", {}, 0, isRepeatable)

export const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(0, "page", String(error), "", {}, 0)

// wait is after how many milliseconds a failed read is repeated; undefined: it is not.
export function wait(error: unknown, failures: number): number | undefined {
  const { status, retryAfter } = asApiError(error)
  if (status === 429 || status === 503) return failures < 5 ? Math.max(1, retryAfter) * 1000 : undefined
  return (status === 0 || status >= 500) && failures < 2 ? 500 * 2 ** failures : undefined
}

// repeat is after how many milliseconds a failed change is sent again; undefined: it is not. A server that turns it away did nothing; of
// one that does not answer nobody knows, so only what carries a key is sent again, for as long as a restart takes.
export function repeat(error: unknown, failures: number): number | undefined {
  const { status, retryAfter, isRepeatable } = asApiError(error)
  if (status === 429 || status === 503) return failures < 5 ? Math.max(1, retryAfter) * 1000 : undefined
  return isRepeatable && failures < 8 ? Math.min(500 * 2 ** failures, 4_000) : undefined
}
