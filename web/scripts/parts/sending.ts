// A form with data-send-once is sent once: the answer to a second press would replace the first one,
// which carries what nobody can tell again. Coming back to the page, it can be sent anew.

export function startSending(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-send-once]")) {
    let isSent = false;
    form.addEventListener("submit", (event) => {
      if (isSent) event.preventDefault();
      isSent = true;
    });
    addEventListener("pageshow", () => {
      isSent = false;
    });
  }
}
