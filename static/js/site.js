// The language list closes like a menu: with Escape, or when something else is touched.

const closeAll = (except) => {
  for (const list of document.querySelectorAll("details.lang[open]")) if (list !== except) list.open = false;
};

document.addEventListener("click", (event) => closeAll(event.target.closest?.("details.lang")));
document.addEventListener("keydown", (event) => {
  const list = event.key === "Escape" && event.target.closest?.("details.lang[open]");
  if (!list) return;
  list.open = false;
  list.querySelector("summary").focus();
});
