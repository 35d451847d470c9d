// The page shows what the printer pushes over its WebSocket, and sends orders by HTTP.
// Every address is relative to the page, so it works behind any host and path.

const $ = (id) => document.getElementById(id);
const WORDS = { idle: "Idle", warmingup: "Warming up", printing: "Printing", paused: "Paused",
  resuming: "Resuming", complete: "Complete", cancelled: "Cancelled", error: "Error" };
const ACTIVE = ["warmingup", "printing", "paused", "resuming"];
const RECONNECT_MS = [500, 1000, 2000, 5000];

let tries = 0;
let status = null;

function connect() {
  const address = new URL("ws", location.href);
  address.protocol = address.protocol.replace("http", "ws");
  const socket = new WebSocket(address);
  socket.onopen = () => {
    // After a break, the picture's stream has ended too.
    if (tries > 0) $("picture").src = `webcam/?action=stream&${Date.now()}`;
    tries = 0;
    $("link").textContent = "live";
    listFiles();
  };
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.Status) show(message.Status);
  };
  socket.onclose = () => {
    $("link").textContent = "reconnecting…";
    setTimeout(connect, RECONNECT_MS[Math.min(tries++, RECONNECT_MS.length - 1)]);
  };
}

function show(now) {
  status = now;
  $("state").className = `badge ${now.State}`;
  $("state").textContent = WORDS[now.State] + (now.SubState ? `: ${now.SubState}` : "");
  $("file").textContent = now.FileName || "Nothing is printing";
  $("percent").textContent = now.Progress.toFixed(now.Progress < 100 ? 1 : 0);
  $("bar").style.width = `${now.Progress}%`;
  $("times").textContent = now.FileName ? times(now) : "";
  $("layers").textContent = layers(now);
  for (const heater of ["Hotend", "Bed", "Chamber"]) {
    const target = now.Temps[`${heater}Target`];
    const aim = target > 0 ? `of ${target}°` : "off";
    $(heater.toLowerCase()).textContent = `${now.Temps[`${heater}Actual`].toFixed(1)}° ${aim}`;
  }
  $("fan").textContent = now.FanPercent;
  $("position").textContent = `X ${now.Position.X}  Y ${now.Position.Y}  Z ${now.Position.Z} mm`;
  $("light").setAttribute("aria-pressed", now.LightOn);
  $("speed").value = String(now.Speed);
  for (const button of document.querySelectorAll("[data-failure]"))
    button.setAttribute("aria-pressed", button.dataset.failure === now.Failure);
  allow(now.State);
  showConsole(now.Console);
  if (now.Error) complain(now.Error);
}

function allow(state) {
  const possible = { pause: ["warmingup", "printing"], resume: ["paused"], cancel: ACTIVE,
    clear: ["complete", "cancelled", "error"] };
  for (const button of document.querySelectorAll("[data-print]"))
    button.hidden = !possible[button.dataset.print].includes(state);
  const busy = ACTIVE.includes(state);
  for (const button of document.querySelectorAll("[data-start], [data-order]")) button.disabled = busy;
  for (const button of document.querySelectorAll("[data-move]"))
    button.disabled = busy && state !== "paused";
}

function showConsole(lines) {
  $("console").replaceChildren(...lines.map((line) => {
    const item = document.createElement("li");
    item.textContent = line.Text;
    item.className = line.IsError ? "error" : "";
    return item;
  }));
}

const clock = (seconds) => new Date(seconds * 1000).toISOString().slice(11, 19);
const times = (now) => `${clock(now.DurationSec)} done` +
  (now.TimeLeftSec === null ? "" : `, ${clock(now.TimeLeftSec)} left`);
const layers = (now) => now.CurrentLayer === null ? "" :
  `Layer ${now.CurrentLayer}${now.TotalLayers ? ` of ${now.TotalLayers}` : ""}, ` +
  `${(now.FilamentUsedMm / 1000).toFixed(2)} m of filament`;

function complain(sentence) {
  $("problem").textContent = sentence;
  $("problem").hidden = !sentence;
}

async function ask(method, address, body) {
  complain("");
  try {
    const answer = await fetch(address, { method, body });
    if (!answer.ok) complain((await answer.json()).Error);
    return answer.ok;
  } catch {
    complain("The printer doesn't answer.");
    return false;
  }
}

const order = (name, what = {}) => ask("POST", `api/${name}`, JSON.stringify(what));

async function listFiles() {
  const { Files } = await (await fetch("api/files")).json();
  $("files").replaceChildren(...Files.map(entryItem));
  if (status) allow(status.State);
}

function entryItem(entry) {
  const item = document.createElement("li");
  if (entry.Type === "folder") {
    const list = document.createElement("ul");
    list.append(...entry.Children.map(entryItem));
    item.append(entry.Name, list);
    return item;
  }
  const address = `api/files/${entry.PlatformPath.split("/").map(encodeURIComponent).join("/")}`;
  const row = document.createElement("div");
  const link = document.createElement("a");
  link.href = address;
  link.textContent = entry.Name;
  const start = makeButton("Print", () => order("print", { Action: "start", Path: entry.PlatformPath }));
  start.dataset.start = "";
  const remove = makeButton("Delete", async () => {
    if (confirm(`Delete ${entry.Name}?`) && await ask("DELETE", address)) listFiles();
  });
  row.append(link, size(entry.SizeBytes), start, remove);
  item.append(row);
  return item;
}

function makeButton(label, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = label;
  button.onclick = act;
  return button;
}

function size(bytes) {
  const text = document.createElement("span");
  text.className = "meta";
  text.textContent = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return text;
}

for (const button of document.querySelectorAll("[data-print]"))
  button.onclick = () => {
    const action = button.dataset.print;
    const sure = action !== "cancel" || confirm(`Stop ${status.FileName}? The print is lost.`);
    if (sure) order("print", { Action: action });
  };
for (const button of document.querySelectorAll("[data-failure]"))
  button.onclick = () => order("simulate", { Failure: button.dataset.failure });
for (const button of document.querySelectorAll("[data-order]"))
  button.onclick = () => order(button.dataset.order);
for (const button of document.querySelectorAll("[data-move]"))
  button.onclick = () => {
    const [axis, distance] = button.dataset.move.split(" ");
    order("move", { Axis: axis, DistanceMm: Number(distance) });
  };
for (const form of document.querySelectorAll("form.heat"))
  form.onsubmit = (event) => {
    event.preventDefault();
    order("temperature", { [form.dataset.heater]: form.querySelector("input").valueAsNumber });
  };
$("light").onclick = () => order("light", { On: !status.LightOn });
$("speed").onchange = () => order("simulate", { Speed: Number($("speed").value) });
$("upload").onsubmit = async (event) => {
  event.preventDefault();
  if (await ask("POST", "api/files", new FormData(event.target))) {
    event.target.reset();
    listFiles();
  }
};

connect();
