// A page with data-awaits waits for something that is done elsewhere. It asks that address, and loads
// itself again once the answer is 200; until then it is 204.
const EVERY_MS = 4000;

export function startAwaiting(): void {
  const address = document.querySelector<HTMLElement>("[data-awaits]")?.dataset.awaits;
  if (!address) return;
  const ask = async (): Promise<void> => {
    if (document.hidden) return;
    const answer = await fetch(address, { cache: "no-store" }).catch(() => null);
    if (answer?.status === 200) location.reload();
  };
  setInterval(() => void ask(), EVERY_MS);
  document.addEventListener("visibilitychange", () => void ask());
}
