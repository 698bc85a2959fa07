// What arrives by socket becomes the page, without taking away what the reader is doing.
// #table comes first in every message and says which version it is. Nothing older than what is shown
// gets in; after a gap the page asks for everything; every event is announced once.
//
// What it reads: #table (data-version, data-full on a complete message, data-title, data-turn while it
// is the viewer's turn), #live, #announce, data-region on every region that may hold the focus,
// data-keep-scroll on boxes that scroll; #notice; ids on whatever can be focused.

const LIVE_LINES = 50;
const LOG_LINES = 40;

const root = document.documentElement;
const shown = () => document.getElementById("table")?.dataset ?? {};

let told = Number(shown().version ?? 0); // everything up to this version has been announced, or was on the page
let asked = false; // a resync is on its way; it brings the announcements
let mute = false; // the present message's announcements are known already
let kept = null; // what the reader was doing before the swap
let wanted = ""; // the id that had the focus until it vanished

document.addEventListener("htmx:wsOpen", () => (asked = false));

document.addEventListener("htmx:wsBeforeMessage", (event) => {
  const message = parse(event.detail.message);
  const table = message.getElementById("table");
  if (!table || message.querySelector("#notice[data-code]")) mute = false; // a notice speaks for itself
  if (table && !admit(table.dataset, message.getElementById("announce") !== null, event.detail.socketWrapper)) {
    event.preventDefault();
    return;
  }
  kept = keep();
});

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  if (target.id === "live") event.detail.shouldSwap = !mute;
  else if (same(target, fragment.firstElementChild)) event.detail.shouldSwap = false;
});

document.addEventListener("htmx:wsAfterMessage", () => {
  restore(kept);
  trim(document.getElementById("live"), document.getElementById("log"));
  for (const form of document.querySelectorAll("[data-sent]")) form.removeAttribute("data-sent");
  tell();
});

// A new attempt: what was said about the last one has been read.
document.addEventListener("htmx:wsAfterSend", (event) => {
  event.target.setAttribute("data-sent", "");
  const notice = document.getElementById("notice");
  notice?.replaceChildren();
  notice?.removeAttribute("data-code");
});

function parse(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content;
}

// Whether a message may change the page; decides too whether its announcements are news.
function admit(table, speaks, line) {
  const version = Number(table.version);
  const before = Number(shown().version ?? 0);
  if (version < before) return false;
  if ("full" in table) return takeAll(version, speaks, line);
  if (version > before + 1 && !asked) resync(line);
  mute = asked || version <= told;
  if (!asked) told = Math.max(told, version);
  return true;
}

// A complete message: a greeting says nothing, so what was missed before it is asked for.
function takeAll(version, speaks, line) {
  mute = version <= told;
  if (!speaks && version > told && !asked) {
    resync(line);
    return true;
  }
  asked = false;
  told = Math.max(told, version);
  return true;
}

function resync(line) {
  asked = true;
  line.sendImmediately(JSON.stringify({ resync: String(told) }));
}

// ── what the reader is doing ─────────────────────────────────────────────────

function keep() {
  const active = document.activeElement;
  return {
    focus: active && active !== document.body ? active.id : "",
    caret: caretOf(active),
    region: active?.closest("[data-region]")?.id ?? "",
    texts: [...document.querySelectorAll("input[id], textarea[id]")].filter(isEdited).map((field) => [field.id, valueOf(field)]),
    scrolls: [...document.querySelectorAll("[data-keep-scroll][id]")].map((box) => [box.id, box.scrollTop]),
    open: [...document.querySelectorAll("details[id][open], [popover][id]:popover-open")].map((box) => box.id),
  };
}

function restore(state) {
  if (!state) return;
  for (const [id, value] of state.texts) setValue(document.getElementById(id), value);
  for (const id of state.open) reopen(document.getElementById(id));
  for (const [id, top] of state.scrolls) document.getElementById(id)?.scrollTo({ top, behavior: "instant" });
  refocus(state);
}

function refocus({ focus, caret, region }) {
  const active = document.activeElement;
  if (focus && focus !== region) wanted = focus;
  if (active && active !== document.body && !active.hasAttribute("data-region")) return;
  const target = document.getElementById(wanted);
  if (target) {
    if (target !== active) target.focus({ preventScroll: true });
    if (caret && target.id === focus) target.setSelectionRange(...caret);
  } else if (region && active?.id !== region) {
    // What was focused is gone, like a move that has been made: stay where the next one will appear.
    const place = document.getElementById(region);
    place?.setAttribute("tabindex", "-1");
    place?.focus({ preventScroll: true });
  }
}

// Whoever moves on by themselves is not called back.
document.addEventListener("pointerdown", () => (wanted = ""));
document.addEventListener("keydown", (event) => event.key === "Tab" && (wanted = ""));

function caretOf(element) {
  try {
    return element?.selectionStart == null ? null : [element.selectionStart, element.selectionEnd];
  } catch {
    return null;
  }
}

function isEdited(field) {
  if (field.hasAttribute("data-keep")) return field.value !== "";
  if (field.type === "hidden") return false;
  return isTick(field) ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
}

const isTick = (field) => field.type === "checkbox" || field.type === "radio";
const valueOf = (field) => (isTick(field) ? field.checked : field.value);

function setValue(field, value) {
  if (!field) return;
  if (isTick(field)) field.checked = value;
  else if (field.value !== value) field.value = value;
}

function reopen(box) {
  if (box instanceof HTMLDetailsElement) box.open = true;
  else if (box?.popover && !box.matches(":popover-open")) box.showPopover();
}

// ── regions that say the same are left alone ─────────────────────────────────

function same(target, fresh) {
  if (!fresh || plain(target) !== plain(fresh)) return false;
  for (const fuse of fresh.querySelectorAll(".fuse")) {
    const burning = target.querySelector(".fuse");
    if (burning) burning.dataset.left = fuse.dataset.left;
  }
  return true;
}

// A region's text without what the page itself has changed in it.
function plain(element) {
  const copy = element.cloneNode(true);
  for (const field of copy.querySelectorAll('input[name="csrfmiddlewaretoken"]')) field.remove();
  for (const node of [copy, ...copy.querySelectorAll("*")]) {
    for (const name of ["data-left", "data-sent", "data-full", "tabindex", "open"]) node.removeAttribute(name);
    if (node.matches("[data-keep]")) node.removeAttribute("value"); // a suggestion that came with the page alone
    if (node.matches(".fuse")) for (const name of ["max", "value"]) node.removeAttribute(name);
    if (node.matches(".fuse, [data-countdown], [data-copy] [data-label]")) node.textContent = "";
    if (node.matches("[class*='htmx-']")) node.className = node.className.replace(/\bhtmx-\S+/g, "").trim();
    if (node.getAttribute("class") === "") node.removeAttribute("class");
  }
  return copy.outerHTML.replace(/\s+/g, " ");
}

function trim(live, log) {
  while (live && live.childElementCount > LIVE_LINES) live.firstElementChild.remove();
  while (log && log.childElementCount > LOG_LINES) log.lastElementChild.remove();
}

// ── your turn ────────────────────────────────────────────────────────────────

let turn = "turn" in shown();
const bell = root.dataset.sound ? new Audio(root.dataset.sound) : null;

// The title says it in every tab; the sound, for those who want it, once as the turn comes.
function tell() {
  const { title } = shown();
  if (title && document.title !== title) document.title = title;
  const now = "turn" in shown();
  if (now && !turn) bell?.play().catch(() => {});
  turn = now;
}
