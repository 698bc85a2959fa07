// What one does to a table beside moves, without losing one's place on the page: the form is posted
// from here, and what it changes arrives by socket. What changes who one is (taking a seat, leaving)
// loads the page anew, as everything does without this script.
//
// Without a socket the forms do not get here: socket.js posts them. What it reads: form[data-do], #notice, #live.

const HERE = ["cpu", "start", "rematch", "accept", "reveal"];

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!HERE.includes(form.dataset.do)) return;
  event.preventDefault();
  post(form, event.submitter).catch(() => document.dispatchEvent(new Event("net:lost")));
});

async function post(form, button) {
  if (button?.getAttribute("aria-disabled") === "true") return;
  const answer = await fetch(form.action, { method: "POST", body: new FormData(form, button), redirect: "manual" });
  if (answer.type !== "opaqueredirect") refuse(await answer.text());
}

// A refusal comes as the whole page; its notice is what is new.
function refuse(html) {
  const notice = new DOMParser().parseFromString(html, "text/html").getElementById("notice");
  if (!notice) return location.reload();
  document.getElementById("notice")?.replaceWith(document.adoptNode(notice));
  const line = document.createElement("p");
  line.textContent = notice.textContent.trim();
  document.getElementById("live")?.append(line);
}

// A form that is on its way is not sent again: a newcomer's second click would be another newcomer's.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented) return;
  if (event.target.hasAttribute("data-posted")) event.preventDefault();
  else event.target.setAttribute("data-posted", "");
});

addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("[data-posted]")) form.removeAttribute("data-posted");
});
