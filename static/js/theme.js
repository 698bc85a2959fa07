// Before the first paint: pages that are the same for everyone still show the reader's theme and deck.
// A page that knows the preferences (data-saved on <html>) says so, and this browser remembers them.
{
  const root = document.documentElement;
  const keys = ["theme", "deck"];
  root.setAttribute("data-js", "");
  try {
    for (const key of keys) {
      if ("saved" in root.dataset) localStorage.setItem(`upcard.${key}`, root.dataset[key] ?? "");
      else if (localStorage.getItem(`upcard.${key}`)) root.dataset[key] = localStorage.getItem(`upcard.${key}`);
    }
  } catch {
    // Storage may be forbidden; the system's theme is a good answer.
  }
}
