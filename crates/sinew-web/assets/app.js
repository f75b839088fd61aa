// Everything here is an addition: without it each page still shows and does the same.
"use strict";

const page = document.documentElement;
const live = document.querySelector(".live");

function say(text, state) {
  if (!live) return;
  live.textContent = text;
  live.dataset.state = state;
}

// Fetches an address and puts the parts of the page that it also has in their place.
let latest = 0;
async function refresh(address, names) {
  const turn = ++latest;
  let response;
  try {
    response = await fetch(address, { headers: { accept: "text/html" } });
  } catch {
    say("Offline", "off");
    return false;
  }
  if (response.redirected && new URL(response.url).pathname === "/auth") {
    location.assign("/auth");
    return false;
  }
  const text = await response.text();
  // An answer that a newer request has overtaken is discarded.
  if (turn !== latest || !response.ok) return false;
  const fresh = new DOMParser().parseFromString(text, "text/html");
  for (const name of names) {
    const [old, now] = [document.getElementById(name), fresh.getElementById(name)];
    if (!old || !now || old.innerHTML === now.innerHTML) continue;
    const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
    old.replaceChildren(...now.childNodes);
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }
  return true;
}

// Parts that follow events: data-live names their kinds.
function liveParts() {
  return [...document.querySelectorAll("[data-live]")];
}

function busy(part) {
  // The user must not lose what they are typing.
  const field = document.activeElement;
  const typing = field && part.contains(field) && field.matches("input, textarea, select");
  return typing || part.querySelector("details[open] textarea") !== null;
}

let pending = new Set();
let timer = 0;
function refreshFor(kind) {
  for (const part of liveParts()) {
    const kinds = part.dataset.live.split(" ");
    if (kind === "reset" || kinds.some((wanted) => kind.startsWith(wanted))) pending.add(part.id);
  }
  if (pending.size === 0 || timer) return;
  timer = setTimeout(async () => {
    timer = 0;
    const names = [...pending].filter((name) => {
      const part = document.getElementById(name);
      return part && !busy(part);
    });
    pending = new Set();
    await refresh(location.href, names);
  }, 150);
}

const KINDS = [
  "catalog.changed", "approval.opened", "approval.decided", "proposal.created", "proposal.changed",
  "outcome.recorded", "cortex.changed", "config.changed", "reset",
];

function listen() {
  if (!live || !window.EventSource) return;
  if (liveParts().length === 0) {
    live.hidden = true;
    return;
  }
  const wanted = KINDS.filter((kind) => kind !== "reset").join(",");
  const source = new EventSource("/api/v1/events?kinds=" + encodeURIComponent(wanted));
  source.addEventListener("open", () => say("Live", "on"));
  source.addEventListener("error", () => say("Reconnecting…", "off"));
  for (const kind of KINDS) source.addEventListener(kind, () => refreshFor(kind));
  addEventListener("pagehide", () => source.close());
}

// Forms that answer while the user types: data-type names the part that changes.
function typeAhead() {
  for (const form of document.querySelectorAll("form[data-type]")) {
    let waiting = 0;
    const ask = () => {
      clearTimeout(waiting);
      waiting = setTimeout(async () => {
        const query = new URLSearchParams(new FormData(form));
        for (const [name, value] of [...query]) if (!value) query.delete(name);
        const address = form.getAttribute("action") + (query.size ? "?" + query : "");
        const names = form.dataset.type.split(" ");
        if (await refresh(address, names)) history.replaceState(null, "", address);
      }, 180);
    };
    form.addEventListener("input", ask);
    form.addEventListener("change", ask);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      ask();
    });
  }
}

// Asks before an action: data-ask holds the question.
function confirmFirst() {
  const dialog = document.getElementById("ask");
  if (!dialog || !dialog.showModal) return;
  let form = null;
  document.addEventListener("submit", (event) => {
    const wanted = event.target;
    if (!wanted.dataset.ask || wanted.dataset.sure) return;
    event.preventDefault();
    form = wanted;
    document.getElementById("ask-text").textContent = wanted.dataset.ask;
    dialog.showModal();
    document.getElementById("ask-yes").focus();
  });
  document.getElementById("ask-yes").addEventListener("click", () => {
    dialog.close();
    if (!form) return;
    form.dataset.sure = "1";
    form.requestSubmit();
  });
  document.getElementById("ask-no").addEventListener("click", () => dialog.close());
}

// Keys. None of them works while the user types.
const PLACES = {
  o: "/", s: "/skills", r: "/route", c: "/cortex", w: "/workshop", h: "/hub", a: "/activity", e: "/health",
};

function rows() {
  return [...document.querySelectorAll("[data-row] a[data-open]")];
}

function step(by) {
  const list = rows();
  if (list.length === 0) {
    document.querySelector(by > 0 ? "a[rel='next']" : "a[rel='prev']")?.click();
    return;
  }
  const at = list.indexOf(document.activeElement);
  const to = at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1);
  list[to].focus();
}

function keys() {
  let going = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const field = event.target;
    if (field.matches?.("input, textarea, select, [contenteditable]")) {
      if (event.key === "Escape") field.blur();
      return;
    }
    if (document.querySelector("dialog[open]")) return;
    if (going && Date.now() - going < 1500 && PLACES[event.key]) {
      going = 0;
      event.preventDefault();
      location.assign(PLACES[event.key]);
      return;
    }
    going = 0;
    const button = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    if (button) {
      event.preventDefault();
      if (button.matches("details")) {
        button.open = true;
        button.querySelector("textarea, input:not([type=hidden])")?.focus();
      } else {
        button.click();
      }
      return;
    }
    switch (event.key) {
      case "g": going = Date.now(); break;
      case "j": event.preventDefault(); step(1); break;
      case "k": event.preventDefault(); step(-1); break;
      case "?": event.preventDefault(); document.getElementById("keys")?.showModal?.(); break;
      case "/": {
        const search = document.querySelector("input[type=search], #message");
        if (search) {
          event.preventDefault();
          search.focus();
        }
      }
    }
  });
  document.getElementById("keys-close")?.addEventListener("click", () => {
    document.getElementById("keys").close();
  });
  document.getElementById("keys-open")?.addEventListener("click", () => {
    document.getElementById("keys").showModal();
  });
}

// The theme changes at once; the form still tells the server.
function theme() {
  const form = document.getElementById("theme");
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const wanted = event.submitter?.value;
    const body = new URLSearchParams(new FormData(form, event.submitter));
    const answer = await fetch(form.action, { method: "POST", body });
    if (!answer.ok) return;
    page.dataset.theme = wanted;
    for (const button of form.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.value === wanted));
    }
  });
}

page.classList.add("scripted");
listen();
typeAhead();
confirmFirst();
keys();
theme();
