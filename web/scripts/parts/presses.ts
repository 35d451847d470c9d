// Two presses at one place within a moment are meant for what was there at the first. The page may have changed
// since, or another page may have come: what stops or ends something does not take the second one.

const MOMENT_MS = 1_000;
const NEAR_PX = 40;
const KEPT = "press";

interface Press {
  at: number;
  x: number;
  y: number;
}

export function startPresses(): void {
  let last = keptPress();
  let pressed: Element | null = null;
  let words = "";
  document.addEventListener(
    "click",
    (event) => {
      if (!(event.target instanceof Element) || event.detail === 0) return; // by keyboard, which has no place
      const control = event.target.closest("a, button");
      const press = { at: Date.now(), x: event.clientX, y: event.clientY };
      const isSame = control !== null && control === pressed && control.textContent === words;
      if (control?.matches(".bad, .danger") && !isSame && last && isSecond(last, press)) {
        event.preventDefault();
        event.stopImmediatePropagation();
        return;
      }
      [last, pressed, words] = [press, control, control?.textContent ?? ""];
      sessionStorage.setItem(KEPT, JSON.stringify(press));
    },
    { capture: true },
  );
}

function isSecond(first: Press, press: Press): boolean {
  const isSoon = press.at >= first.at && press.at - first.at < MOMENT_MS;
  return isSoon && Math.hypot(press.x - first.x, press.y - first.y) < NEAR_PX;
}

/** The last one on the page before. */
function keptPress(): Press | null {
  return JSON.parse(sessionStorage.getItem(KEPT) ?? "null") as Press | null;
}
