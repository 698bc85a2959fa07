// Copying a link, and the system's share sheet where there is one. Without script the link is there to select.

const root = document.documentElement;
if (navigator.share) root.setAttribute("data-can-share", "");
if (navigator.clipboard) root.setAttribute("data-can-copy", "");

document.addEventListener("click", (event) => {
  const copy = event.target.closest?.("[data-copy]");
  const share = event.target.closest?.("[data-share]");
  if (copy) copyLink(copy);
  if (share) navigator.share({ url: share.dataset.share, title: share.dataset.title }).catch(() => {});
});

async function copyLink(button) {
  await navigator.clipboard.writeText(button.dataset.copy);
  const label = button.querySelector("[data-label]");
  const before = label.textContent;
  if (before === button.dataset.copied) return;
  label.textContent = button.dataset.copied;
  setTimeout(() => (label.textContent = before), 2500);
}
