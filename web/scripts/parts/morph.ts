// Bring a part of the page to what the server has just written, and touch nothing that is the same:
// the focus, what is typed, open details and running pictures stay. So does what scripts write into
// elements with data-ours.

export function morph(old: Element, html: string): void {
  const page = new DOMParser().parseFromString(html, "text/html");
  const wanted = page.body.firstElementChild ?? page.head.firstElementChild; // a title
  if (wanted) become(old, wanted);
}

function become(old: Element, wanted: Element): void {
  if (old.nodeName !== wanted.nodeName) return replace(old, wanted);
  if (isAwaited(old, wanted) || old.hasAttribute("data-ours")) return;
  if (isInUse(old)) return takeFaults(old, wanted);
  takeAttributes(old, wanted);
  takeChildren(old, wanted);
}

/** A field being filled in is the person's, not ours. */
function isInUse(element: Element): boolean {
  return element === document.activeElement && element.matches("input, textarea, select");
}

/** But whether it is wrong is the server's. */
function takeFaults(old: Element, wanted: Element): void {
  for (const name of ["aria-invalid", "aria-describedby"]) {
    const value = wanted.getAttribute(name);
    if (value === null) old.removeAttribute(name);
    else old.setAttribute(name, value);
  }
}

/** A form that was sent stays busy, and one that says what is wrong goes on saying it. */
function isAwaited(old: Element, wanted: Element): boolean {
  if (!(old instanceof HTMLFormElement)) return false;
  const isSame = old.getAttribute("action") === wanted.getAttribute("action");
  const saysFault = old.querySelector("[aria-invalid]") && !wanted.querySelector("[aria-invalid]");
  return isSame && ("busyNow" in old.dataset || Boolean(saysFault));
}

function takeAttributes(old: Element, wanted: Element): void {
  for (const { name, value } of wanted.attributes) {
    if (isOurs(old, name, wanted)) continue;
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!wanted.hasAttribute(name) && !isOurs(old, name, wanted)) old.removeAttribute(name);
  }
}

/** What scripts and people have changed since, and the server knows nothing of. */
function isOurs(element: Element, name: string, wanted: Element): boolean {
  if (name === "open") return true;
  if (element instanceof HTMLImageElement && name === "src") return isAskedAgain(element) && isAskedAgain(wanted);
  return name === "data-address" || name === "data-arrival" || name === "style"; // the server writes no styles
}

/** Its address differs by a time alone, until it becomes another kind of picture. */
function isAskedAgain(image: Element): boolean {
  return image.hasAttribute("data-still") || image.hasAttribute("data-stream");
}

/** Children are matched in their order, and those with an id by it: what is new between them is added. */
function takeChildren(old: Element, wanted: Element): void {
  let mine = shown(old);
  const theirs = shown(wanted);
  const after = new Set(theirs.map(idOf).filter(Boolean));
  for (const child of theirs) {
    const at = idOf(child) ? mine.findIndex((node) => idOf(node) === idOf(child)) : -1;
    if (at > 0) {
      for (const gone of mine.slice(0, at)) gone.remove();
      mine = mine.slice(at);
    } else if (at < 0 && mine[0] && after.has(idOf(mine[0]))) {
      old.insertBefore(document.importNode(child, true), mine[0]);
      continue;
    }
    let counterpart = mine.shift();
    // What has the focus stays; what is to stand in its place then stands after it, and takes the place of no other.
    while (counterpart && counterpart.nodeName !== child.nodeName && holdsFocus(counterpart)) counterpart = mine.shift();
    if (!counterpart) old.append(document.importNode(child, true));
    else if (counterpart instanceof Element && child instanceof Element) become(counterpart, child);
    else if (counterpart.nodeType !== child.nodeType) replace(counterpart, child);
    else if (counterpart.nodeValue !== child.nodeValue) counterpart.nodeValue = child.nodeValue;
  }
  for (const extra of mine) if (!holdsFocus(extra)) extra.remove();
    else if (wasSent(extra)) removeWithFocus(extra);
}

/** Its children without the blanks between them, which stay as they are. */
function shown(element: Element): ChildNode[] {
  return [...element.childNodes].filter((node) => node instanceof Element || node.nodeValue?.trim());
}

function idOf(node: Node): string {
  return node instanceof Element ? node.id : "";
}

function replace(old: ChildNode, wanted: Node): void {
  if (!holdsFocus(old)) old.replaceWith(document.importNode(wanted, true));
}

/** A form whose order is carried out, and that the page has no more: it no longer says "Restarting…". */
function wasSent(node: Node): boolean {
  return node instanceof Element && (node.matches("[data-busy-now]") || node.querySelector("[data-busy-now]") !== null);
}

function removeWithFocus(node: ChildNode): void {
  const around = node.parentElement?.closest<HTMLElement>("[tabindex]");
  node.remove();
  around?.focus({ preventScroll: true });
}

function holdsFocus(node: Node): boolean {
  return node !== document.body && node.contains(document.activeElement);
}
