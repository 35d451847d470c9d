// A key that leads to a field: data-shortcut="/" on the field.

export function startShortcuts(): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const field = document.querySelector<HTMLElement>(`[data-shortcut="${CSS.escape(event.key)}"]`);
    if (!field) return;
    event.preventDefault();
    field.focus();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}
