import { useMutation } from "@tanstack/react-query"
import { signIn } from "../api/client"
import { words } from "../words/en"
import { Field, Form } from "./parts"

// SignInForm takes a token.
export function SignInForm({ onEntered }: { onEntered: () => unknown }) {
  const enter = useMutation({ mutationFn: signIn, retry: false, onSuccess: onEntered })
  return (
    <>
      <Form
        submit={words.signIn.submit}
        busy={enter.isPending}
        error={enter.error}
        onSubmit={(data) => enter.mutate({ token: String(data.get("token")).trim() })}
      >
        <Field label={words.signIn.token} name="token" error={enter.error}>
          {(field) => (
            <input
              {...field}
              type="password"
              className="input mono"
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
            />
          )}
        </Field>
      </Form>
      <p className="muted small">{words.signIn.help}</p>
      <code>{words.signIn.command}</code>
    </>
  )
}
