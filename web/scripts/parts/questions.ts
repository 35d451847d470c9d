// A link with data-question leads to a page that asks; with scripts, what it asks opens as a dialog here.
// Where the page asks nothing, because something stands against it, the link leads there.

import { startTimes } from "./times";
import { endToasts } from "./toasts";

export function startQuestions(): void {
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target.closest<HTMLAnchorElement>("a[data-question]");
    if (!link) return;
    event.preventDefault();
    void ask(link);
  });
}

async function ask(link: HTMLAnchorElement): Promise<void> {
  if (link.ariaBusy === "true") return;
  link.ariaBusy = "true";
  const page = await fetchPage(link.href).catch(() => null);
  link.ariaBusy = null;
  if (!page || !showQuestion(page)) location.assign(link.href);
}

/** Open what a page asks, or tells, as a dialog; false where it does neither. */
export function showQuestion(page: Document): boolean {
  const question = page.querySelector<HTMLElement>("[data-question-body]");
  if (!question) return false;
  document.querySelector("dialog.in-place")?.remove();
  endToasts();
  const dialog = document.createElement("dialog");
  dialog.className = "in-place";
  dialog.append(document.adoptNode(question));
  startTimes(question);
  const heading = question.querySelector("h1");
  if (heading) {
    const smaller = document.createElement("h2");
    smaller.id = "question";
    smaller.append(...heading.childNodes);
    heading.replaceWith(smaller);
    dialog.setAttribute("aria-labelledby", smaller.id);
  }
  const no = question.querySelector<HTMLElement>(".decision > a, a[data-close]");
  no?.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  no?.focus({ preventScroll: true }); // it starts nothing
  dialog.scrollTop = 0;
  return true;
}

export async function fetchPage(address: string): Promise<Document | null> {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
}
