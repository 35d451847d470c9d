// A bar of sections that is wider than the page shows the section that one is in.

export function startSections(): void {
  for (const current of document.querySelectorAll<HTMLElement>(".subsections [aria-current], .chips [aria-current]")) {
    const bar = current.parentElement;
    if (!bar) continue;
    const ends = current.offsetLeft + current.offsetWidth - bar.offsetLeft;
    if (ends > bar.clientWidth) bar.scrollLeft = ends - (bar.clientWidth + current.offsetWidth) / 2;
  }
}
