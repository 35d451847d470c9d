// The service worker of the service's own host. It keeps one page for when there is no network, and
// shows notifications, also while no page is open. Nothing else is kept: no page of somebody who is
// signed in, and nothing of a printer.
//
// web/installable.py serves it, with a first line that says what to keep.

interface Kept {
  version: string;
  page: string;
  assets: string[];
  icon: string;
  badge: string;
  words: { happened: string; nothing_done: string; not_reached: string };
}

interface Act {
  act: string;
  label: string;
  token: string;
}

interface Message {
  title: string;
  text: string;
  url: string;
  picture?: string;
  tag?: string;
  alerts?: boolean;
  acts?: Act[];
}

interface ShownOptions extends NotificationOptions {
  actions?: { action: string; title: string }[];
  image?: string;
  renotify?: boolean;
}

interface Outcome {
  title: string;
  text: string;
}

const worker = self as unknown as ServiceWorkerGlobalScope & { KEPT: Kept };

const CACHE = `printreach-${worker.KEPT.version}`;
const ACT_PATH = "/notifications/act";
const ACT_TIMEOUT_MS = 50_000; // the printer has 30 s to pause
const UNREADABLE: Message = { title: "Printreach", text: worker.KEPT.words.happened, url: "/printers" };
const NOT_REACHED: Outcome = { title: worker.KEPT.words.nothing_done, text: worker.KEPT.words.not_reached };

worker.addEventListener("install", (event) => event.waitUntil(install()));
worker.addEventListener("activate", (event) => event.waitUntil(activate()));
worker.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET") return;
  if (event.request.mode === "navigate") event.respondWith(pageOf(event.request));
  else if (worker.KEPT.assets.some((path) => event.request.url === here(path))) {
    event.respondWith(assetOf(event.request));
  }
});
worker.addEventListener("push", (event) => event.waitUntil(show(messageIn(event.data))));
worker.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(clicked(event.notification, event.action));
});

async function install(): Promise<void> {
  const cache = await caches.open(CACHE);
  const paths = [worker.KEPT.page, ...worker.KEPT.assets];
  // Without cookies: what is kept is what anybody gets.
  await cache.addAll(paths.map((path) => new Request(path, { credentials: "omit", cache: "reload" })));
  await worker.skipWaiting();
}

async function activate(): Promise<void> {
  const names = await caches.keys();
  const old = names.filter((name) => name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

async function pageOf(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    const page = await kept(worker.KEPT.page);
    if (page) return page;
    throw error;
  }
}

async function assetOf(request: Request): Promise<Response> {
  return (await kept(request.url)) ?? fetch(request);
}

async function kept(path: string): Promise<Response | undefined> {
  return (await caches.open(CACHE)).match(path);
}

function here(path: string): string {
  return new URL(path, worker.location.origin).href;
}

function messageIn(data: PushMessageData | null): Message {
  try {
    const message = data?.json() as Message | undefined;
    return message?.title ? message : UNREADABLE;
  } catch {
    return UNREADABLE; // a browser demands that each push is shown
  }
}

async function show(message: Message): Promise<void> {
  const options: ShownOptions = {
    body: message.text,
    icon: worker.KEPT.icon,
    badge: worker.KEPT.badge,
    data: message,
    actions: (message.acts ?? []).map(({ act, label }) => ({ action: act, title: label })),
  };
  if (message.picture) options.image = message.picture;
  if (message.tag) Object.assign(options, { tag: message.tag, renotify: message.alerts ?? false });
  await worker.registration.showNotification(message.title, options);
}

async function clicked(notification: Notification, action: string): Promise<void> {
  const message = notification.data as Message;
  const act = message.acts?.find((one) => one.act === action);
  if (!act) return open(message.url);
  const outcome = await perform(act);
  const { url, tag } = message;
  await show({ ...outcome, url, ...(tag ? { tag } : {}) });
}

async function perform(act: Act): Promise<Outcome> {
  try {
    const answer = await fetch(ACT_PATH, {
      method: "POST",
      credentials: "omit",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify({ token: act.token }),
      signal: AbortSignal.timeout(ACT_TIMEOUT_MS),
    });
    const said = (await answer.json()) as Partial<Outcome>;
    return said.title && said.text ? { title: said.title, text: said.text } : NOT_REACHED;
  } catch {
    return NOT_REACHED;
  }
}

// Only pages of this service are opened, whatever a message says.
async function open(address: string): Promise<void> {
  const url = new URL(address, worker.location.origin);
  if (url.origin !== worker.location.origin) return;
  const windows = await worker.clients.matchAll({ type: "window" });
  const shown = windows.find((one) => one.url === url.href);
  await (shown ? shown.focus() : worker.clients.openWindow(url.href));
}
