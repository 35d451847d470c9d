// Copy buttons, and the box of values that are shown once.

import { t } from "./messages";

const SAID_MS = 2500;

export function startCopying(): void {
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("button");
    if (!button) return;
    const once = button.closest<HTMLElement>("[data-once]");
    if (button.dataset.copy) void copy(button, textOf(button.dataset.copy));
    else if (once && "copyAll" in button.dataset) void copy(button, allOf(once));
    else if (once && "save" in button.dataset) save(`${once.dataset.once}.txt`, allOf(once));
  });
}

function textOf(id: string): string {
  return document.getElementById(id)?.textContent ?? "";
}

function allOf(once: HTMLElement): string {
  const values = [...once.querySelectorAll<HTMLElement>("[data-label]")];
  return values.map((value) => `${value.dataset.label}: ${value.textContent}\n`).join("");
}

async function copy(button: HTMLButtonElement, text: string): Promise<void> {
  const words = button.querySelector("span");
  if (!words) return;
  const before = words.textContent;
  const copied = await written(text);
  words.textContent = copied ? t("Copied") : t("Select and copy");
  button.classList.toggle("ok", copied);
  use(button, copied ? "tick" : "copy");
  setTimeout(() => {
    words.textContent = before;
    button.classList.remove("ok");
    use(button, "copy");
  }, SAID_MS);
}

async function written(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // no permission, or a page without https
  }
}

function use(button: HTMLElement, drawing: string): void {
  const reference = button.querySelector("use");
  const address = reference?.getAttribute("href")?.split("#")[0];
  if (reference && address) reference.setAttribute("href", `${address}#${drawing}`);
}

function save(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
