// Forms with data-passkey ask the authenticator before they are sent: "get" to sign in, "create"
// to make a passkey. What it says goes into the field `answer`.

import { t } from "./messages";

const CANCELLED = t("Nothing was done. Try again when you are ready.");
const NOT_HERE = t("This browser can’t use passkeys here.");

export function startPasskeys(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-passkey]")) {
    form.addEventListener("submit", (event) => {
      if (event.submitter?.hasAttribute("formaction")) return;
      event.preventDefault();
      void ask(form);
    });
  }
}

async function ask(form: HTMLFormElement): Promise<void> {
  const fault = form.querySelector<HTMLElement>("[data-passkey-fault]");
  const answer = form.querySelector<HTMLInputElement>("input[name=answer]");
  if (!fault || !answer) return;
  fault.hidden = true;
  try {
    const credential = await credentialFor(form);
    answer.value = JSON.stringify(credential);
    form.submit();
  } catch (error) {
    fault.textContent = error instanceof Refused ? error.message : CANCELLED;
    fault.hidden = false;
  }
}

class Refused extends Error {}

async function credentialFor(form: HTMLFormElement): Promise<Credential> {
  if (!("PublicKeyCredential" in window) || !PublicKeyCredential.parseCreationOptionsFromJSON) {
    throw new Refused(NOT_HERE);
  }
  const options = await begin(form);
  const credential =
    form.dataset["passkey"] === "create"
      ? await navigator.credentials.create({
          publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(
            options as PublicKeyCredentialCreationOptionsJSON,
          ),
        })
      : await navigator.credentials.get({
          publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(
            options as PublicKeyCredentialRequestOptionsJSON,
          ),
        });
  if (!credential) throw new Refused(CANCELLED);
  return credential;
}

async function begin(form: HTMLFormElement): Promise<unknown> {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string") fields.append(name, value);
  }
  const answer = await fetch(form.dataset["begin"] ?? "", {
    method: "POST",
    body: fields,
    headers: { Accept: "application/json" },
  });
  const said: unknown = await answer.json();
  if (answer.ok) return said;
  const sentence = (said as { Error?: string }).Error;
  throw new Refused(sentence ?? CANCELLED);
}
