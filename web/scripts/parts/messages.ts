// Texts in the language of the page. The server writes their translations into the page unless it is in English.

const translations: Record<string, string> = JSON.parse(document.getElementById("messages")?.textContent ?? "{}");

/** The page's language, for times: in English they are written as in Europe. */
export const locale = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;

/** Translates a text, which has to stand in the call itself. Placeholders are as in Python: "%(name)s", and "%%". */
export function t(text: string, values: Record<string, string | number> = {}): string {
  return (translations[text] ?? text).replace(/%%|%\((\w+)\)s/g, (found, name: string) => (found === "%%" ? "%" : String(values[name] ?? "")));
}
