// A link with data-question leads to a page that asks; with scripts, what it asks opens as a dialog here.
// Where the page asks nothing, because something stands against it, the link leads there.

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
  const question = await fetchQuestion(link.href).catch(() => null);
  link.ariaBusy = null;
  if (!question) return location.assign(link.href);
  const dialog = document.createElement("dialog");
  dialog.className = "in-place";
  dialog.append(question);
  const heading = question.querySelector("h1");
  if (heading) {
    const smaller = document.createElement("h2");
    smaller.id = "question";
    smaller.append(...heading.childNodes);
    heading.replaceWith(smaller);
    dialog.setAttribute("aria-labelledby", smaller.id);
  }
  const no = question.querySelector<HTMLElement>(".decision > a");
  no?.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  no?.focus({ preventScroll: true }); // it starts nothing
  dialog.scrollTop = 0;
}

async function fetchQuestion(address: string): Promise<HTMLElement | null> {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const question = page.querySelector<HTMLElement>("[data-question-body]");
  return answer.ok && question ? document.adoptNode(question) : null;
}
