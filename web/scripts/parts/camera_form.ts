// The picture beside a camera's settings is turned and flipped as one chooses.

export function startCameraForm(): void {
  document.addEventListener("change", (event) => {
    const form = event.target instanceof Element && event.target.closest("[data-camera-form]");
    const image = form && form.querySelector("img");
    if (!form || !image) return;
    const rotation = form.querySelector("select")?.value ?? "0";
    image.classList.remove("turn-90", "turn-180", "turn-270");
    if (rotation !== "0") image.classList.add(`turn-${rotation}`);
    for (const way of ["flip-h", "flip-v"]) {
      image.classList.toggle(way, form.querySelector<HTMLInputElement>(`[name$="${way}"]`)?.checked);
    }
  });
}
