// What Back leads to. The answer to a form can't be loaded again, so the page with the form takes its
// place in the browser's history. A question that the browser kept may be out of date.

export function startBack(): void {
  const asked = document.referrer;
  if (document.body.hasAttribute("data-answers-form") && asked.startsWith(`${location.origin}/`)) {
    history.replaceState(null, "", asked);
  }
  addEventListener("pageshow", (event) => {
    if (event.persisted && document.querySelector(".decision")) location.reload();
  });
}
