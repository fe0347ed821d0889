export const signIn = {
  token: "API token",
  help: "Paste a token that begins with hco_. Without one, run this where Holdco runs; it prints a link that signs you in:",
  command: "holdco login",
  submit: "Sign in",
  starting: "Signing in",
  linkFailed: "The link did not sign you in",
  useToken: "Sign in with a token",
}
