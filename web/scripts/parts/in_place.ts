// A form with data-in-place is sent without leaving the page, whose focus and scroll stay. What the
// server answers is what a browser without scripts would show, and it is shown here:
//
//   this page again           its parts are brought up to date, and its words are a toast
//   the form with its faults  at the field
//   a question, or a refusal  in a dialog
//
// Anything else, such as the sign-in, is gone to. A button with data-busy="Pausing…" says so until the
// form is another one, 10 seconds at most.
import { lookAgain, patch } from "./live";
import { morph } from "./morph";
import { showQuestion } from "./questions";
import { endToasts, toast } from "./toasts";
import { t } from "./messages";

const BUSY_MS = 10_000;
const MOST_WAITING = 8;
const PARTS = '[id^="part-"], [id^="needs-you-"], article[id^="printer-"], li[id^="printer-"]';

let last: Promise<void> = Promise.resolve();
let waiting = 0;

export function startInPlace(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-in-place]")) form.noValidate = true;
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.matches("[data-in-place]")) return;
    event.preventDefault();
    const button = event.submitter instanceof HTMLButtonElement ? event.submitter : undefined;
    if ("busyNow" in form.dataset || waiting >= MOST_WAITING) return;
    const body = fieldsOf(form, button);
    const stop = button?.dataset.busy ? begin(form, button) : undefined;
    waiting += 1;
    endToasts();
    // One after the other: three steps of an axis are three moves, in their order.
    last = last.then(() => send(form, body, stop)).finally(() => (waiting -= 1));
  });
}

function fieldsOf(form: HTMLFormElement, button: HTMLButtonElement | undefined): URLSearchParams {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) fields.append(name, String(value));
  if (button?.name) fields.append(button.name, button.value);
  return fields;
}

async function send(form: HTMLFormElement, body: URLSearchParams, stop: (() => void) | undefined): Promise<void> {
  const headers = { Accept: "text/html", "X-In-Place": location.pathname };
  try {
    const answer = await fetch(form.getAttribute("action") ?? "", { method: "POST", body, headers });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (answer.redirected && !isHere(answer.url)) return location.assign(answer.url);
    form.closest("dialog")?.close();
    forgetFaults();
    if (answer.redirected) return show(page, answer.url);
    stop?.();
    showFaults(form, page) || ask(page);
  } catch {
    stop?.();
    toast(t("The connection broke off. Check whether the printer did it."));
  }
}

function isHere(address: string): boolean {
  return new URL(address, location.href).pathname === location.pathname;
}

/** Another filter of a list shows other parts; the page's own stream brings those of this one. */
function show(page: Document, address: string): void {
  if (new URL(address).search === location.search) {
    for (const part of page.querySelectorAll(PARTS)) patch(part.id, part.outerHTML);
    lookAgain();
  }
  const words = page.querySelector(".toasts .toast")?.textContent;
  if (words) toast(words);
}

function showFaults(form: HTMLFormElement, page: Document): boolean {
  const theirs = form.id ? page.getElementById(form.id) : null;
  const isWrong = theirs?.querySelector("[aria-invalid]") ?? null;
  if (!theirs || !isWrong) return false;
  morph(form, theirs.outerHTML);
  form.noValidate = true;
  form.querySelector<HTMLElement>("[aria-invalid]")?.focus();
  return true;
}

/** What was wrong before is right, or is said again. */
function forgetFaults(): void {
  for (const field of document.querySelectorAll("form[data-in-place] [aria-invalid]")) field.removeAttribute("aria-invalid");
}

/** A page that neither asks nor explains has only its title to say. */
function ask(page: Document): void {
  if (!showQuestion(page)) toast(page.querySelector("h1")?.textContent ?? t("Something went wrong here"));
}

function begin(form: HTMLFormElement, button: HTMLButtonElement): () => void {
  const words = button.querySelector("span");
  const before = words?.textContent ?? "";
  form.dataset.busyNow = "";
  if (words) words.textContent = button.dataset.busy ?? before;
  button.setAttribute("aria-disabled", "true");
  const stop = () => {
    clearTimeout(timer);
    if (!("busyNow" in form.dataset)) return; // it is another form by now
    delete form.dataset.busyNow;
    button.removeAttribute("aria-disabled");
    if (words) words.textContent = before;
  };
  const timer = window.setTimeout(stop, BUSY_MS);
  return stop;
}
