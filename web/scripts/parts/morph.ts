// Bring a part of the page to what the server has just written, and touch nothing that is the same:
// the focus, what is typed, open details and running pictures stay.

export function morph(old: Element, html: string): void {
  const page = new DOMParser().parseFromString(html, "text/html");
  const wanted = page.body.firstElementChild ?? page.head.firstElementChild; // a title
  if (wanted) become(old, wanted);
}

function become(old: Element, wanted: Element): void {
  if (old.nodeName !== wanted.nodeName) return replace(old, wanted);
  if (isInUse(old)) return;
  takeAttributes(old, wanted);
  takeChildren(old, wanted);
}

/** A field being filled in is the person's, not ours. */
function isInUse(element: Element): boolean {
  return element === document.activeElement && element.matches("input, textarea, select");
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
  return name === "data-address";
}

/** Its address differs by a time alone, until it becomes another kind of picture. */
function isAskedAgain(image: Element): boolean {
  return image.hasAttribute("data-still") || image.hasAttribute("data-stream");
}

function takeChildren(old: Element, wanted: Element): void {
  const mine = [...old.childNodes];
  const theirs = [...wanted.childNodes];
  theirs.forEach((child, index) => {
    const counterpart = mine[index];
    if (!counterpart) old.append(document.importNode(child, true));
    else if (counterpart instanceof Element && child instanceof Element) become(counterpart, child);
    else if (counterpart.nodeType !== child.nodeType) replace(counterpart, child);
    else if (counterpart.nodeValue !== child.nodeValue) counterpart.nodeValue = child.nodeValue;
  });
  for (const extra of mine.slice(theirs.length)) if (!holdsFocus(extra)) extra.remove();
}

function replace(old: ChildNode, wanted: Node): void {
  if (!holdsFocus(old)) old.replaceWith(document.importNode(wanted, true));
}

function holdsFocus(node: Node): boolean {
  return node !== document.body && node.contains(document.activeElement);
}
