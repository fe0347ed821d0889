import { useMutation, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import { type ReactNode, useEffect, useState } from "react"
import { signIn } from "../../api/client"
import { Failure } from "../../kit/parts"
import { SignInForm } from "../../kit/signin"
import { words } from "../../words/en"

const Door = ({ children }: { children: ReactNode }) => (
  <div className="door">
    <main className="stack">
      <div className="row">
        <img src="/icon.svg" alt="" width={28} height={28} />
        <h1>{words.product}</h1>
      </div>
      {children}
    </main>
  </div>
)

export function SignIn() {
  const { to } = useSearch({ from: "/login" })
  const navigate = useNavigate()
  const queries = useQueryClient()
  return (
    <Door>
      <div className="panel inset stack">
        <SignInForm
          onEntered={async () => {
            queries.clear()
            await navigate({ to: to ?? "/" })
          }}
        />
      </div>
    </Door>
  )
}

// takeCode reads the code of the link once, and drops it from the address.
function takeCode(): string {
  const code = new URLSearchParams(location.hash.slice(1)).get("code") ?? ""
  history.replaceState(null, "", "/start")
  return code
}

export function Start() {
  const [code] = useState(takeCode)
  const navigate = useNavigate()
  const queries = useQueryClient()
  const enter = useMutation({
    mutationFn: signIn,
    retry: false,
    onSuccess: async () => {
      queries.clear()
      await navigate({ to: "/", replace: true })
    },
  })
  const { mutate, isIdle } = enter
  useEffect(() => {
    if (isIdle && !begun.has(code)) {
      begun.add(code)
      mutate({ code })
    }
  }, [code, isIdle, mutate])
  return (
    <Door>
      <div className="panel inset stack">
        {!enter.error && <p role="status">{words.signIn.starting}</p>}
        {enter.error && (
          <>
            <h2>{words.signIn.linkFailed}</h2>
            <Failure error={enter.error} />
            <Link to="/login">{words.signIn.useToken}</Link>
          </>
        )}
      </div>
    </Door>
  )
}

// begun are the codes that were sent: React may run an effect twice, and a code works once.
const begun = new Set<string>()
