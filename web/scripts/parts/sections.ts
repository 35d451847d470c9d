// A bar of sections that is wider than the page shows the section that one is in, and the one that has
// the focus: browsers leave alone what they show the edge of.

const BARS = ".subsections, .cameras";

export function startSections(): void {
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element && target.closest(BARS)) target.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  for (const current of document.querySelectorAll<HTMLElement>(".subsections [aria-current]")) {
    const bar = current.parentElement;
    if (!bar) continue;
    const ends = current.offsetLeft + current.offsetWidth - bar.offsetLeft;
    if (ends > bar.clientWidth) bar.scrollLeft = ends - (bar.clientWidth + current.offsetWidth) / 2;
  }
}
