// A form with data-upload shows how far its file has gone. What the server answers, a page or a
// redirect, is shown as if the browser had sent the form itself.

export function startUploads(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-upload]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      send(form);
    });
  }
}

function send(form: HTMLFormElement): void {
  const state = form.querySelector<HTMLElement>(".upload-state");
  const bar = form.querySelector("progress");
  const words = state?.querySelector("span");
  const button = form.querySelector<HTMLButtonElement>("button");
  if (!state || !bar || !words || !button) return form.submit();
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "text/html");
  request.upload.onprogress = ({ loaded, total }) => {
    bar.value = total ? (100 * loaded) / total : 0;
    words.textContent = `${Math.floor(bar.value)}%`;
  };
  request.onload = () => {
    if (request.status < 400) return location.assign(request.responseURL || location.href);
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    const reason = page.querySelector(".summary li, main .lead")?.textContent?.trim();
    end(reason || "The file was not taken. Try again.");
  };
  request.onerror = () => end("The connection broke off. Try again.");
  const end = (reason: string) => {
    words.textContent = reason;
    button.disabled = false;
  };
  state.hidden = false;
  button.disabled = true;
  request.send(new FormData(form));
}
