// Boxes over a picture: <div data-masks> with number fields region-1-left … region-8-height, which
// are all that is sent. Dragging fills the next that are empty; what is typed is drawn at once.
// A finger draws one box after [data-draw] was pressed: else it scrolls the page, as anywhere.
import { t } from "./messages";

type Box = { left: number; top: number; width: number; height: number };
type Point = { x: number; y: number };

const EDGES = ["left", "top", "width", "height"] as const;
const SMALLEST = 1.5;
const SVG = "http://www.w3.org/2000/svg";

export function startMasks(): void {
  for (const element of document.querySelectorAll<HTMLElement>("[data-masks]")) new Masks(element);
}

class Masks {
  private readonly shot: HTMLElement;
  private readonly drawing: SVGElement;
  private from: Point | undefined;

  constructor(private readonly root: HTMLElement) {
    this.shot = root.querySelector<HTMLElement>(".shot")!;
    this.drawing = root.querySelector<SVGElement>(".masked")!;
    this.drawing.addEventListener("pointerdown", (event) => this.begin(event));
    this.drawing.addEventListener("pointermove", (event) => this.from && this.draw(this.dragged(event)));
    this.drawing.addEventListener("pointerup", (event) => this.end(event));
    this.drawing.addEventListener("pointercancel", () => this.stop());
    root.querySelector("[data-draw]")?.addEventListener("click", () => this.waitForFinger(!this.waitsForFinger));
    root.addEventListener("input", () => this.draw());
    this.draw();
  }

  private begin(event: PointerEvent): void {
    if (event.button !== 0 || !this.emptyRow()) return;
    if (event.pointerType === "touch" && !this.waitsForFinger) return;
    event.preventDefault();
    this.drawing.setPointerCapture(event.pointerId);
    this.from = this.at(event);
  }

  private end(event: PointerEvent): void {
    if (!this.from) return;
    const box = this.dragged(event);
    const row = this.emptyRow();
    if (row && box.width >= SMALLEST && box.height >= SMALLEST) {
      EDGES.forEach((edge, index) => (row[index]!.value = box[edge].toFixed(1)));
      this.waitForFinger(false);
    }
    this.stop();
  }

  private get waitsForFinger(): boolean {
    return this.root.classList.contains("is-drawn-on");
  }

  private waitForFinger(waits: boolean): void {
    this.root.classList.toggle("is-drawn-on", waits);
    const button = this.root.querySelector<HTMLElement>("[data-draw]");
    button?.classList.toggle("on", waits);
    button?.setAttribute("aria-pressed", String(waits));
  }

  private stop(): void {
    this.from = undefined;
    this.draw();
  }

  /** Percent of the picture as it is shown, turned or not. */
  private at(event: PointerEvent): Point {
    const shown = this.shot.getBoundingClientRect();
    const within = (share: number) => Math.round(1000 * Math.max(0, Math.min(1, share))) / 10;
    return { x: within((event.clientX - shown.left) / shown.width), y: within((event.clientY - shown.top) / shown.height) };
  }

  private dragged(event: PointerEvent): Box {
    const from = this.from!;
    const to = this.at(event);
    return {
      left: Math.min(from.x, to.x),
      top: Math.min(from.y, to.y),
      width: Math.abs(from.x - to.x),
      height: Math.abs(from.y - to.y),
    };
  }

  private rows(): HTMLInputElement[][] {
    return [...this.root.querySelectorAll(".region")].map((row) => [...row.querySelectorAll("input")]);
  }

  private emptyRow(): HTMLInputElement[] | undefined {
    return this.rows().find((row) => row.every((input) => !input.value.trim()));
  }

  private draw(dragged?: Box): void {
    const boxes = this.rows().map(boxOf);
    const shown = [...boxes, dragged].filter((box) => box !== undefined);
    this.drawing.replaceChildren(...shown.map((box) => this.rectOf(box)));
    if (!dragged) this.list(boxes);
  }

  /** A button for each box, to take it away. */
  private list(boxes: (Box | undefined)[]): void {
    const list = this.root.querySelector<HTMLElement>("[data-drawn]")!;
    const buttons = boxes.flatMap((box, index) => (box ? [this.remover(index)] : []));
    list.replaceChildren(...buttons);
  }

  private remover(index: number): HTMLButtonElement {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button";
    button.textContent = t("Remove box %(number)s", { number: index + 1 });
    button.addEventListener("click", () => {
      for (const input of this.rows()[index]!) input.value = "";
      this.draw();
      (this.root.querySelector<HTMLElement>("[data-drawn] button") ?? this.root.querySelector("summary"))?.focus();
    });
    return button;
  }

  /** In shares of the picture as it is taken: the drawing turns with the picture. */
  private rectOf(box: Box): SVGRectElement {
    const one = this.taken(box.left / 100, box.top / 100);
    const other = this.taken((box.left + box.width) / 100, (box.top + box.height) / 100);
    const rect = document.createElementNS(SVG, "rect");
    rect.setAttribute("x", String(Math.min(one.x, other.x)));
    rect.setAttribute("y", String(Math.min(one.y, other.y)));
    rect.setAttribute("width", String(Math.abs(one.x - other.x)));
    rect.setAttribute("height", String(Math.abs(one.y - other.y)));
    return rect;
  }

  private taken(x: number, y: number): Point {
    const { rotation, flipH, flipV } = this.root.dataset;
    let point = { x, y };
    if (rotation === "90") point = { x: y, y: 1 - x };
    if (rotation === "180") point = { x: 1 - x, y: 1 - y };
    if (rotation === "270") point = { x: 1 - y, y: x };
    return { x: flipH === "1" ? 1 - point.x : point.x, y: flipV === "1" ? 1 - point.y : point.y };
  }
}

function boxOf(row: HTMLInputElement[]): Box | undefined {
  const [left, top, width, height] = row.map((input) => parseFloat(input.value.replace(",", ".")));
  if (![left, top, width, height].every((number) => Number.isFinite(number))) return undefined;
  const box = { left: left!, top: top!, width: width!, height: height! };
  return box.width > 0 && box.height > 0 ? box : undefined;
}
