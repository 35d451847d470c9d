// A key that leads to a field: data-shortcut="/" on the field.

export function startShortcuts(): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const fields = document.querySelectorAll<HTMLElement>(`[data-shortcut="${CSS.escape(event.key)}"]`);
    const field = [...fields].find((one) => one.checkVisibility());
    if (!field) return;
    event.preventDefault();
    field.focus();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}
