// An app's logo that can't be loaded gives way to the first letter of the app's name, as apps without
// a logo have it.

export function startLogos(): void {
  for (const logo of document.querySelectorAll<HTMLImageElement>("img[data-letter]")) {
    const replace = (): void => {
      const letter = document.createElement("span");
      letter.className = logo.className;
      letter.ariaHidden = "true";
      letter.textContent = logo.dataset.letter ?? "";
      logo.replaceWith(letter);
    };
    if (logo.complete && logo.naturalWidth === 0) replace();
    else logo.addEventListener("error", replace);
  }
}
