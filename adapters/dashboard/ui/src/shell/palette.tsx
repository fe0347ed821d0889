import { Dialog } from "@base-ui/react/dialog"
import { useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { Command } from "cmdk"
import { api, ask } from "../api/client"
import { useMay } from "../kit/queries"
import { words } from "../words/en"

export default function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const admin = useMay("admin")
  const companies = useQuery({
    queryKey: ["companies", "palette"],
    queryFn: () => ask(api.GET("/v1/companies", { params: { query: { limit: 100 } } })),
  })
  const go = (to: string) => {
    onClose()
    void navigate({ to })
  }
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog palette" aria-label={words.palette.label}>
          <Command label={words.palette.label}>
            <Command.Input placeholder={words.palette.placeholder} />
            <Command.List>
              <Command.Empty>{words.palette.empty}</Command.Empty>
              <Command.Item onSelect={() => go("/")}>{words.nav.companies}</Command.Item>
              {admin && (
                <>
                  <Command.Item onSelect={() => go("/instance/tokens")}>{words.nav.tokens}</Command.Item>
                  <Command.Item onSelect={() => go("/instance/webhooks")}>{words.nav.webhooks}</Command.Item>
                  <Command.Item onSelect={() => go("/instance/partners")}>{words.nav.partners}</Command.Item>
                </>
              )}
              {companies.data?.data.map((c) => (
                <Command.Item key={c.id} value={`${c.name} ${c.slug}`} onSelect={() => go(`/c/${c.slug}/settings`)}>
                  {c.name} <span className="muted">{c.slug}</span>
                </Command.Item>
              ))}
            </Command.List>
          </Command>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
