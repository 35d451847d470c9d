// Build what the pages load into the package: two style sheets, each top-level script, the service
// worker, the drawings, and the icons of the installed app.
import { cp, mkdir, readdir, rm } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { drawIcons } from "./icons.mjs";

const here = new URL(".", import.meta.url);
const at = (path) => fileURLToPath(new URL(path, here));
const target = at("../src/printreach/web/static/");

const scripts = (await readdir(at("scripts"))).filter((name) => name.endsWith(".ts"));

await mkdir(target, { recursive: true });
const { metafile } = await build({
  entryPoints: [at("styles/app.css"), at("styles/pages.css"), ...scripts.map((name) => at(`scripts/${name}`)), at("worker/service-worker.ts")],
  outdir: target,
  entryNames: "[name]",
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022", "chrome109", "firefox115", "safari16.4"],
  metafile: true,
  logLevel: "warning",
});
await cp(at("images"), target, { recursive: true });
const icons = await drawIcons(at("images/icon.svg"), target);

// What an earlier build left goes last, so that a service at work misses nothing.
const made = new Set([...Object.keys(metafile.outputs).map((path) => basename(path)), ...(await readdir(at("images"))), ...icons]);
for (const name of await readdir(target)) if (!made.has(name)) await rm(target + name, { recursive: true });
