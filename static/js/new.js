// The summary beside the button follows what is chosen. Everything else on the page works without script.

const form = document.getElementById("new");
const summary = form?.querySelector("[data-summary]");

function sum() {
  const chosen = [...form.querySelectorAll("[data-sum]")].map((group) => {
    const label = group.querySelector("input:checked + span")?.textContent.trim() ?? "";
    return /^\d+$/.test(label) ? `${group.querySelector("legend").textContent}${summary.dataset.colon} ${label}` : label;
  });
  summary.textContent = chosen.filter(Boolean).join(" · ");
}

if (summary) {
  form.addEventListener("change", sum);
  sum();
}
