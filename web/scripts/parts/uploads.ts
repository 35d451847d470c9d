// A form with data-upload shows how far its file has gone. What the server answers, a page or a
// redirect, is shown as if the browser had sent the form itself. A file may be dropped on the page.

import { fetchPage, showQuestion } from "./questions";
import { t } from "./messages";

export function startUploads(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-upload]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void sendIfFree(form, event.submitter?.getAttribute("formaction") ?? form.action);
    });
    takeDropped(form);
  }
}

/** A dropped file is chosen as if by hand: its buttons say what becomes of it. */
function takeDropped(form: HTMLFormElement): void {
  const input = form.querySelector<HTMLInputElement>("input[type=file]");
  const carriesFile = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  document.addEventListener("dragover", (event) => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    form.classList.add("is-over");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) form.classList.remove("is-over");
  });
  document.addEventListener("drop", (event) => {
    form.classList.remove("is-over");
    const files = event.dataTransfer?.files;
    if (!input || !files?.length) return;
    event.preventDefault();
    input.files = files;
    form.scrollIntoView({ block: "center" });
    form.querySelector<HTMLButtonElement>("button")?.focus();
  });
}

/** Where the printer has a file of this name, its page asks first; the answer "yes" sends the file. */
async function sendIfFree(form: HTMLFormElement, address: string): Promise<void> {
  const file = form.querySelector<HTMLInputElement>("input[type=file]")?.files?.[0];
  const page = form.dataset.asks && file ? await fetchPage(`${form.dataset.asks}&name=${encodeURIComponent(file.name)}`).catch(() => null) : null;
  if (!page || !showQuestion(page)) return send(form, address);
  const dialog = document.querySelector<HTMLDialogElement>("dialog.in-place");
  const replaced = encodeURIComponent(file?.name ?? "");
  dialog?.querySelector("form")?.addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.close();
    send(form, `${address}&replace=${replaced}`);
  });
}

function send(form: HTMLFormElement, address: string): void {
  const state = form.querySelector<HTMLElement>(".upload-state");
  const bar = form.querySelector("progress");
  const words = state?.querySelector("span");
  const buttons = form.querySelectorAll<HTMLButtonElement>("button");
  if (!state || !bar || !words || !buttons.length) return form.submit();
  const request = new XMLHttpRequest();
  request.open("POST", address);
  request.setRequestHeader("Accept", "text/html");
  request.upload.onprogress = ({ loaded, total }) => {
    bar.value = total ? (100 * loaded) / total : 0;
    words.textContent = t("%(number)s%%", { number: Math.floor(bar.value) });
  };
  request.onload = () => {
    if (request.status < 400) return location.assign(request.responseURL || location.href);
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    const reason = page.querySelector(".summary li, main .lead")?.textContent?.trim();
    end(reason || t("The file was not accepted. Try again."));
  };
  request.onerror = () => end(t("The connection broke off. Try again."));
  const disable = (isUnderWay: boolean) => {
    for (const button of buttons) button.disabled = isUnderWay;
  };
  const end = (reason: string) => {
    words.textContent = reason;
    disable(false);
  };
  state.hidden = false;
  disable(true);
  request.send(new FormData(form));
}
