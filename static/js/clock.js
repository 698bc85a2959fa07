// The clock of a decision. The server says how many milliseconds are left as it draws the page
// (data-left of data-total); from there the local clock counts, so that wrong wall clocks do no harm.
//
// What it reads: <progress class="fuse" data-left data-total data-warning>, [data-countdown].

const WARNING = 10_000;

let fuse = null;
let left = "";
let deadline = 0;
let warned = false;

function read() {
  const present = document.querySelector(".fuse[data-left]");
  if (present === fuse && present?.dataset.left === left) return;
  fuse = present;
  left = present?.dataset.left ?? "";
  deadline = performance.now() + Number(left);
  warned = Number(left) <= WARNING;
  tick();
}

function tick() {
  if (!fuse) return;
  const rest = Math.max(0, deadline - performance.now());
  fuse.max = Number(fuse.dataset.total);
  fuse.value = rest;
  const seconds = Math.ceil(rest / 1000);
  for (const face of document.querySelectorAll("[data-countdown]")) {
    const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    if (face.textContent !== text) face.textContent = text;
  }
  if (!warned && rest <= WARNING) warn();
}

// Once a decision, and only to whom it concerns: the server gives the text to that page alone.
function warn() {
  warned = true;
  if (!fuse.dataset.warning) return;
  const line = document.createElement("p");
  line.textContent = fuse.dataset.warning;
  document.getElementById("live")?.append(line);
}

document.addEventListener("htmx:wsAfterMessage", read);
setInterval(tick, 250);
read();
