// A slider writes its number into the field of its name, which is what is sent; what is typed there moves it.

export function startSliders(): void {
  document.addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    const field = target.dataset.slides ? document.getElementById(target.dataset.slides) : null;
    if (field instanceof HTMLInputElement) field.value = target.value;
    const slider = target.id ? document.querySelector(`[data-slides="${CSS.escape(target.id)}"]`) : null;
    if (slider instanceof HTMLInputElement && target.value) slider.value = target.value;
  });
}
