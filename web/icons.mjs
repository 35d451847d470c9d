// The icons of the installed app, drawn from images/icon.svg: [file name, size, share of the mark].
// A maskable icon may be cut to a circle of 80 % of its width, so its mark is smaller.
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { initWasm, Resvg } from "@resvg/resvg-wasm";

const TILE = "#00667D";
const ON_TILE = "#fff";
const ICONS = [
  ["icon-192.png", 192, 0.66, TILE],
  ["icon-512.png", 512, 0.66, TILE],
  ["icon-maskable-512.png", 512, 0.5, TILE],
  ["apple-touch-icon.png", 180, 0.66, TILE],
  // Android shows the shape of a badge alone, in a colour of its own.
  ["badge-96.png", 96, 0.9, "none"],
];

// Write them into a folder, and return their names.
export async function drawIcons(source, folder) {
  const mark = /<path[^>]*\bd="([^"]+)"/.exec(await readFile(source, "utf8"))?.[1];
  if (!mark) throw new Error(`${source} has no mark`);
  const require = createRequire(import.meta.url);
  await initWasm(await readFile(require.resolve("@resvg/resvg-wasm/index_bg.wasm")));
  for (const [name, size, share, ground] of ICONS) {
    await writeFile(folder + name, new Resvg(tile(mark, size, share, ground)).render().asPng());
  }
  return ICONS.map(([name]) => name);
}

function tile(mark, size, share, ground) {
  const scale = (size * share) / 50;
  const edge = (size - 50 * scale) / 2;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}">
<rect width="${size}" height="${size}" fill="${ground}"/>
<path transform="translate(${edge} ${edge}) scale(${scale})" d="${mark}" fill="none" stroke="${ON_TILE}"
 stroke-width="5" stroke-linecap="round" stroke-linejoin="round"/></svg>`;
}
