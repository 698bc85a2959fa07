// A list that keeps itself fresh: <section id="…" data-refresh="5"> is fetched again from its own page
// every so many seconds while somebody looks at it, and replaced if it has changed.

for (const region of document.querySelectorAll("[data-refresh][id]")) {
  let running = false;
  setInterval(async () => {
    if (document.hidden || running) return;
    running = true;
    await refresh(region.id).catch(() => {});
    running = false;
  }, Number(region.dataset.refresh) * 1000);
}

async function refresh(id) {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
  if (!old || !fresh || plain(old) === plain(fresh)) return;
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  old.replaceWith(fresh);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

// The token in a form differs from load to load and means no change.
function plain(element) {
  const copy = element.cloneNode(true);
  for (const field of copy.querySelectorAll('input[name="csrfmiddlewaretoken"]')) field.remove();
  return copy.innerHTML;
}
