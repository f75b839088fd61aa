// Checks a page as a user meets it who is blind or sees little. Returns what is wrong.
const wrong = [];
const say = (what, node) => {
  const where = node ? ` at <${node.tagName.toLowerCase()}${node.id ? "#" + node.id : ""}${node.className && node.className.baseVal === undefined ? "." + node.className : ""}> ${(node.textContent || "").trim().slice(0, 40)}` : "";
  wrong.push(what + where);
};
const visible = (node) => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
const named = (node) => (node.getAttribute("aria-label") || node.textContent || node.title || "").trim() !== "";

for (const [tag, count] of [["main", 1], ["h1", 1]]) {
  const found = document.querySelectorAll(tag).length;
  if (found !== count) say(`${found} <${tag}>`);
}
if (!document.documentElement.lang) say("no language");
if (!document.title) say("no title");
const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
for (const id of ids.filter((id, at) => ids.indexOf(id) !== at)) say(`two things are called ${id}`);
for (const node of document.querySelectorAll("[aria-labelledby], [aria-describedby]")) {
  for (const name of ["aria-labelledby", "aria-describedby"]) {
    const id = node.getAttribute(name);
    if (id && !document.getElementById(id)) say(`${name} leads nowhere`, node);
  }
}
for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
  if (![...(field.labels || [])].some(named) && !field.getAttribute("aria-label")) say("a field without a label", field);
}
for (const node of document.querySelectorAll("button, a[href], summary, [role=img], nav, dialog, fieldset")) {
  const labelled = node.getAttribute("aria-labelledby");
  if (!named(node) && !labelled) say("nothing to call it by", node);
}
for (const table of document.querySelectorAll(".frame table")) {
  if (table.closest(".prose")) continue;
  if (!table.caption) say("a table without a caption", table);
  for (const head of table.querySelectorAll("th")) if (!head.scope) say("a head without a scope", head);
}
for (const node of document.querySelectorAll("[tabindex]")) if (node.tabIndex > 0) say("its own place in the order", node);
let level = 0;
for (const head of document.querySelectorAll("main h1, main h2, main h3, main h4, main h5, main h6")) {
  const own = Number(head.tagName[1]);
  if (!head.closest(".prose") && own > level + 1) say(`a heading that skips from ${level} to ${own}`, head);
  level = own;
}

const channels = (color) => {
  const numbers = (color.match(/-?[\d.]+(e-?\d+)?/g) || []).map(Number);
  const [r, g, b] = color.startsWith("color(") ? numbers.slice(0, 3).map((n) => n * 255) : numbers;
  const alpha = numbers.length > 3 ? numbers[3] : 1;
  return [r, g, b, alpha];
};
const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
const behind = (node) => {
  const layers = [];
  for (let at = node; at; at = at.parentElement) layers.push(channels(getComputedStyle(at).backgroundColor));
  return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255, 1]);
};
const light = ([r, g, b]) => {
  const part = (n) => { const c = n / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
};
for (const node of document.querySelectorAll("body *")) {
  const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
  if (!own || !visible(node) || node.closest("svg")) continue;
  const box = node.getBoundingClientRect();
  if (box.right < 0 || box.width < 2) continue;
  const style = getComputedStyle(node);
  const ground = behind(node);
  let alpha = 1;
  for (let at = node; at; at = at.parentElement) alpha *= Number(getComputedStyle(at).opacity);
  const ink = channels(style.color);
  const [a, b] = [light(over([ink[0], ink[1], ink[2], ink[3] * alpha], ground)), light(ground)];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  if (ratio < (large ? 3 : 4.5)) say(`contrast ${ratio.toFixed(2)}`, node);
}
// A phone widens its window to what it shows; the screen stays as wide as it is.
const wide = Math.min(window.innerWidth, screen.width);
if (document.documentElement.scrollWidth > wide + 1) say(`wider than the window: ${document.documentElement.scrollWidth} of ${wide}`);
return wrong;
