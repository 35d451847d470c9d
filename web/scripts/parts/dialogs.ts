// A link with data-dialog opens the dialog of that id. Without one it stays a link, to a page that asks.

import { endToasts } from "./toasts";

export function startConfirming(): void {
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const opener = event.target.closest<HTMLElement>("[data-dialog]");
    const dialog = opener && document.getElementById(opener.dataset.dialog ?? "");
    if (dialog instanceof HTMLDialogElement) {
      event.preventDefault();
      endToasts();
      dialog.showModal();
      // What changes nothing has the focus, so that Enter twice does not end a print.
      dialog.querySelector<HTMLElement>("[data-close]")?.focus();
    } else if (event.target.closest("[data-close]") || event.target instanceof HTMLDialogElement) {
      event.target.closest("dialog")?.close();
    }
  });
}
