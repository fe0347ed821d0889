import { Dialog } from "@base-ui/react/dialog"
import { X } from "lucide-react"
import { type ReactNode, useRef } from "react"
import { words } from "../words/en"
import looks from "./sheet.module.css"

interface SheetProps {
  title: string
  actions?: ReactNode
  onClose: () => void
  children: ReactNode
}

// Sheet shows one row of a list beside it; on a phone, over it. It has the focus itself at first: the key that opened it must not reach
// what closes it.
export function Sheet({ title, actions, onClose, children }: SheetProps) {
  const popup = useRef<HTMLDivElement>(null)
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className={`${looks.sheet} stack`} ref={popup} initialFocus={popup}>
          <div className={looks.head}>
            <Dialog.Title>{title}</Dialog.Title>
            <div className={looks.act}>
              {actions}
              <Dialog.Close className="button plain icon" aria-label={words.close}>
                <X size={16} aria-hidden />
              </Dialog.Close>
            </div>
          </div>
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
