// A form with data-own-zone="name" begins with the browser's time zone in the list of that name.

export function startZones(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-own-zone]");
  const list = form?.elements.namedItem(form.dataset.ownZone ?? "");
  if (!(list instanceof HTMLSelectElement)) return;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if ([...list.options].some((option) => option.value === zone)) list.value = zone;
}
