// A popup that tells of something stays closed once somebody has closed it. Around it stands
// <div data-closes="a printer" data-closed-as="its pause">: another pause opens it again. Without
// data-closed-as the printer has gone on, and its next pause is another one, whatever it is called.

const KEPT = "printreach-closed";

export function startClosed(): void {
  if (!document.body.classList.contains("with-tabs")) localStorage.removeItem(KEPT);
  closeAgain();
  document.addEventListener("close", (event) => event.target instanceof HTMLDialogElement && note(event.target), true);
}

/** The page, or a part of it, was written anew. */
export function closeAgain(): void {
  for (const around of document.querySelectorAll<HTMLElement>("[data-closes]")) {
    const { closes = "", closedAs } = around.dataset;
    if (closedAs === undefined) keep(closes, undefined);
    else if (read()[closes] === closedAs) around.querySelector("dialog")?.removeAttribute("open");
  }
}

function note(popup: HTMLDialogElement): void {
  const { closes, closedAs } = popup.parentElement?.dataset ?? {};
  if (closes && closedAs) keep(closes, closedAs);
}

function keep(closes: string, closedAs: string | undefined): void {
  if (read()[closes] !== closedAs) localStorage.setItem(KEPT, JSON.stringify({ ...read(), [closes]: closedAs }));
}

function read(): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}") as Record<string, string>;
  } catch {
    return {};
  }
}
