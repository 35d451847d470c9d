// Words in passing: shown for 6 seconds, held while a pointer or the focus is on them.

const SHOWN_MS = 6000;

export function toast(words: string): void {
  // One at a time: several would cover what is pressed next.
  for (const earlier of document.querySelectorAll(".toasts .toast")) earlier.remove();
  const line = document.createElement("p");
  line.className = "toast";
  line.textContent = words;
  document.querySelector(".toasts")?.append(line);
  endInTime(line);
}

/** Say something to screen readers alone: a change of state that the page shows by itself. */
export function announce(words: string): void {
  const line = document.createElement("p");
  line.className = "unseen";
  line.textContent = words;
  document.querySelector(".toasts")?.append(line);
  setTimeout(() => line.remove(), SHOWN_MS);
}

export function startToasts(): void {
  document.querySelectorAll<HTMLElement>(".toast").forEach(endInTime);
}

function endInTime(line: HTMLElement): void {
  line.tabIndex = 0;
  let timer = 0;
  const wait = () => (timer = window.setTimeout(() => line.remove(), SHOWN_MS));
  const hold = () => clearTimeout(timer);
  for (const name of ["pointerenter", "focus"]) line.addEventListener(name, hold);
  for (const name of ["pointerleave", "blur"]) line.addEventListener(name, wait);
  wait();
}
