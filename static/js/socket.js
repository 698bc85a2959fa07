// The table's socket: htmx's extension opens it and fills the page; this keeps it alive and honest.
// The server's close codes 4401, 4403, 4404 and 4410 are final and explained; after any other the page
// reconnects, and says so. Without a socket every form is posted; without the network it stays.
//
// What it reads: #net with [data-text] inside and the texts data-reconnecting, data-on4401 …; the token
// in <meta name="csrf-token">.

const FINAL = [4401, 4403, 4404, 4410];
const SLOWEST = 10_000; // ms between two attempts
const ANSWER = 6_000; // ms until a silent connection counts as dead
const SILENCE = 45_000; // ms without a message until the page asks

const bar = document.getElementById("net");
let socket = null;
let wrapper = null; // the extension's handle on the socket, for reconnecting
let failures = 0;
let ended = false;
let retryTimer = 0;
let answerTimer = 0;
let silenceTimer = 0;
let barTimer = 0;
let posting = false; // one form at a time: whoever clicks again gets no second move

// The extension reconnects by itself after some codes and not after others. Here every close is ours.
htmx.createWebSocket = (url) => {
  const opened = new WebSocket(url);
  socket = opened;
  opened.addEventListener("message", heard);
  opened.addEventListener("close", (event) => {
    event.stopImmediatePropagation();
    if (opened === socket) lost(event.code);
  });
  opened.addEventListener("error", (event) => {
    if (wrapper) event.stopImmediatePropagation();
  });
  return opened;
};

document.addEventListener("htmx:wsOpen", ({ detail }) => (wrapper = detail.socketWrapper));
document.addEventListener("htmx:wsError", ({ detail }) => {
  wrapper ??= { reconnect: () => detail.socketWrapper.init() };
});

function heard() {
  failures = 0;
  clearTimeout(answerTimer);
  answerTimer = 0;
  clearTimeout(silenceTimer);
  silenceTimer = setTimeout(ask, SILENCE * (1 + Math.random() / 3));
  say("");
}

function lost(code) {
  socket = null;
  clearTimeout(answerTimer);
  clearTimeout(silenceTimer);
  answerTimer = 0;
  if (FINAL.includes(code)) {
    ended = true;
    say(bar?.dataset[`on${code}`] ?? "", 0);
    return;
  }
  say(bar?.dataset.reconnecting ?? "", 400);
  clearTimeout(retryTimer);
  retryTimer = setTimeout(reconnect, delay(failures++));
}

// Half of it by chance, so that a restarted server does not meet everybody at once.
function delay(attempt) {
  return Math.min(SLOWEST, 500 * 2 ** attempt) * (0.5 + Math.random() / 2);
}

function reconnect() {
  clearTimeout(retryTimer);
  if (!socket && !ended) wrapper?.reconnect();
}

// A dead network closes nothing: whoever gets no answer starts anew.
function giveUp() {
  const dead = socket;
  if (!dead) return;
  lost(0);
  dead.close();
}

function expectAnswer() {
  answerTimer ||= setTimeout(giveUp, ANSWER);
}

function ask() {
  if (!isOpen() || document.hidden) return;
  socket.send(JSON.stringify({ resync: document.getElementById("table")?.dataset.version ?? "" }));
  expectAnswer();
}

function isOpen() {
  return socket?.readyState === WebSocket.OPEN;
}

// The bar is there from the start and empty, so that screen readers hear it change.
function say(text, wait = 0) {
  clearTimeout(barTimer);
  if (!bar) return;
  const show = () => {
    bar.querySelector("[data-text]").textContent = text;
    bar.toggleAttribute("data-shown", text !== "");
    bar.toggleAttribute("data-final", ended);
  };
  if (text && wait) barTimer = setTimeout(show, wait);
  else show();
}

addEventListener("online", reconnect);
addEventListener("pageshow", (event) => event.persisted && reconnect());
document.addEventListener("visibilitychange", () => (isOpen() ? ask() : reconnect()));

// ── forms ────────────────────────────────────────────────────────────────────

// Forms that came by socket carry no token; the page has it once.
function withToken(form) {
  const token = document.querySelector('meta[name="csrf-token"]')?.content;
  if (!token || form.method !== "post" || form.elements.csrfmiddlewaretoken) return;
  const field = document.createElement("input");
  field.type = "hidden";
  field.name = "csrfmiddlewaretoken";
  field.value = token;
  form.append(field);
}

document.addEventListener("submit", onSubmit, true);

function onSubmit(event) {
  const form = event.target;
  withToken(form);
  if (isOpen() || form.method !== "post") return;
  event.preventDefault();
  event.stopPropagation();
  post(form);
}

// Posted like any form, if the site answers at all: the browser's page about an error would take the table away.
async function post(form) {
  if (posting) return;
  posting = true;
  const there = await fetch("/healthz", { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(ANSWER) }).catch(() => null);
  posting = false;
  if (!there) say(bar?.dataset.reconnecting ?? "");
  else if (form.isConnected) form.submit();
}

document.addEventListener("htmx:wsConfigSend", (event) => {
  if (isOpen()) {
    delete event.detail.parameters.csrfmiddlewaretoken;
    expectAnswer();
    return;
  }
  event.preventDefault();
  post(event.target);
});

// Another script found that nothing answers.
document.addEventListener("net:lost", giveUp);
