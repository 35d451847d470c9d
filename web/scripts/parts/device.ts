// What this device keeps of Printreach: the service worker, and a subscription to notifications.
//
// <section data-push="KEY" hidden> offers to be told on this device; it has a button, a
// [data-push-state] sentence and a [data-push-fault]. KEY is the service's public key. Nobody is
// asked before the button is pressed.
//
// data-push-place="/notifications" leads there afterwards, where the list of devices is.

import { t } from "./messages";

const WORKER = "/service-worker.js";
const DEVICES = "/notifications/devices";
const RENEWED = "printreach-push-renewed";
const SUBSCRIBE_TIMEOUT_MS = 20_000;
const NOT_ALLOWED =
  t("This browser doesn’t allow notifications from this site. Allow them in its settings, then try again.");
const FAILED = t("This browser could not be added. Try again in a moment.");
const ON_HOME_SCREEN =
  t("On an iPhone or iPad, first add Printreach to the home screen: Share, then Add to Home Screen. Open it from there.");

export function startDevice(): void {
  // Without https there is no worker, except on localhost: the pages work as they do without it.
  if (!window.isSecureContext || !("serviceWorker" in navigator)) return;
  void start();
}

async function start(): Promise<void> {
  const offer = document.querySelector<HTMLElement>("[data-push]");
  try {
    const registration = await navigator.serviceWorker.register(WORKER);
    endWithSession(registration);
    const subscription = await renew(registration, offer !== null);
    if (offer) prepare(offer, registration, subscription);
  } catch {
    // A browser that refuses workers shows the pages all the same.
  }
}

// Signing out ends the subscription at the service; here the browser ends it, too.
function endWithSession(registration: ServiceWorkerRegistration): void {
  if (!("pushManager" in registration)) return;
  const form = document.querySelector<HTMLFormElement>('form[action="/signout"]');
  form?.addEventListener("submit", () => {
    sessionStorage.removeItem(RENEWED);
    void registration.pushManager.getSubscription().then((one) => one?.unsubscribe());
  });
}

// A subscription that the service no longer has, or has of another account, ends here, too. Asked
// once for each tab, and wherever the page shows it. Returns the place's id; "" without one.
async function renew(registration: ServiceWorkerRegistration, isShown: boolean): Promise<string> {
  const isSignedIn = document.body.classList.contains("with-tabs");
  if (!isSignedIn) sessionStorage.removeItem(RENEWED);
  if (!("pushManager" in registration) || !isSignedIn) return "";
  if (!isShown && sessionStorage.getItem(RENEWED)) return "";
  const subscription = await registration.pushManager.getSubscription();
  if (!subscription) return "";
  const answer = await send(subscription, true);
  if (answer.status === 404) {
    await subscription.unsubscribe();
    return "";
  }
  if (!answer.ok) return "";
  sessionStorage.setItem(RENEWED, "yes");
  return ((await answer.json()) as { DestinationId: string }).DestinationId;
}

function prepare(offer: HTMLElement, registration: ServiceWorkerRegistration, place: string): void {
  const button = offer.querySelector<HTMLButtonElement>("button");
  if (!button) return;
  if (place) {
    document.getElementById(`place-${place}`)?.setAttribute("data-here", "");
    return;
  }
  if (!("pushManager" in registration)) {
    // Safari on iOS has it in installed apps alone, and says by this whether it is one.
    if ((navigator as { standalone?: boolean }).standalone !== false) return;
    say(offer, ON_HOME_SCREEN);
    button.hidden = true;
  }
  offer.hidden = false;
  button.addEventListener("click", () => {
    void add(offer, button, registration);
  });
}

async function add(
  offer: HTMLElement,
  button: HTMLButtonElement,
  registration: ServiceWorkerRegistration,
): Promise<void> {
  button.disabled = true;
  const fault = offer.querySelector<HTMLElement>("[data-push-fault]");
  if (fault) fault.hidden = true;
  try {
    await subscribe(offer.dataset["push"] ?? "", registration);
    const page = offer.dataset["pushPlace"];
    if (page) return location.assign(page);
    say(offer, t("This device is notified about your prints."));
    button.hidden = true;
  } catch (error) {
    if (fault) {
      fault.textContent = error instanceof Refused ? error.message : FAILED;
      fault.hidden = false;
    }
  }
  button.disabled = false;
}

class Refused extends Error {}

async function subscribe(key: string, registration: ServiceWorkerRegistration): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted") throw new Refused(NOT_ALLOWED);
  await inTime(navigator.serviceWorker.ready);
  const options = { userVisibleOnly: true, applicationServerKey: key };
  let subscription: PushSubscription;
  try {
    subscription = await inTime(registration.pushManager.subscribe(options));
  } catch (error) {
    const other = await registration.pushManager.getSubscription();
    if (!other) throw error;
    // One with another key of the service is in the way.
    await other.unsubscribe();
    subscription = await inTime(registration.pushManager.subscribe(options));
  }
  const answer = await send(subscription, false);
  if (answer.ok) return;
  await subscription.unsubscribe();
  throw new Refused(((await answer.json()) as { Error?: string }).Error ?? FAILED);
}

// Where a browser's push service can't be reached, some browsers wait for ever; all of them do for a
// worker that could not be installed.
function inTime<T>(promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Refused(FAILED)), SUBSCRIBE_TIMEOUT_MS);
    promise.then(resolve, reject);
  });
}

function send(subscription: PushSubscription, isRenewal: boolean): Promise<Response> {
  return fetch(isRenewal ? `${DEVICES}/renew` : DEVICES, {
    method: "POST",
    body: new URLSearchParams({ subscription: JSON.stringify(subscription) }),
    headers: { Accept: "application/json" },
  });
}

function say(offer: HTMLElement, sentence: string): void {
  const state = offer.querySelector("[data-push-state]");
  if (state) state.textContent = sentence;
}
