// The page of the audit: starts a quick audit and shows its progress.

const start = document.getElementById("start");
const progress = document.getElementById("progress");
const PAUSE = 500;

async function ask(method) {
  const options = { method, headers: { "Content-Type": "application/json" } };
  const response = await fetch("/api/audit", method === "POST" ? { ...options, body: "{}" } : {});
  return response.json();
}

function show(audit) {
  if (audit.state === "finished") {
    window.location.reload();
  } else if (audit.state === "running") {
    start.disabled = true;
    progress.textContent = `Auditing: ${Math.floor(100 * audit.share)} % done`;
    window.setTimeout(update, PAUSE, "GET");
  } else {
    start.disabled = false;
    progress.textContent = audit.error ?? (audit.state === "failed" ? "The audit failed." : "");
  }
}

async function update(method) {
  try {
    show(await ask(method));
  } catch {
    progress.textContent = "The server does not answer. Is `standout explore` still running?";
  }
}

if (start) {
  start.addEventListener("click", () => update("POST"));
  if (progress.dataset.state === "running") {
    update("GET");
  }
}
