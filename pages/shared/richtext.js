// Builds the elements for the nodes of pages/shared/nodes.py. Text is never parsed as HTML, and only the elements
// named here can be created.
const TAGS = { p: "p", ul: "ul", ol: "ol", li: "li", b: "strong", i: "em", s: "s", row: "tr", th: "th",
  td: "td", hr: "hr", br: "br", code: "code", mark: "mark", pre: "pre" };

// Cells with more characters get a minimum width.
const LONG_CELL = 24;

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function build(node, context) {
  if (node.t === "text") return document.createTextNode(node.s);
  if (node.t === "cite") return cite(node, context);
  if (node.t === "doubt") return element("span", "doubt", node.s);
  if (node.t === "verdict") return verdict(node, context);
  if (node.t === "scores") return scores(node.rows);
  if (node.t === "fold") return fold(node, context);
  if (node.t === "toggle") return toggle(node, context);
  if (node.t === "table") {
    const frame = element("div", "table");
    frame.tabIndex = 0;
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", node.s || context.words.table);
    const table = frame.appendChild(element("table"));
    for (const row of node.c) table.append(build(row, context));
    return frame;
  }
  const tag = TAGS[node.t];
  const made = element(tag || "div", tag ? "" : node.t, node.s);
  if (node.t === "ol" && Number.isInteger(node.n)) made.start = node.n;
  if (node.t === "th" || node.t === "td") shapeCell(made, node);
  for (const child of node.c || []) made.append(build(child, context));
  if (node.t === "td") made.classList.toggle("long", made.textContent.length > LONG_CELL);
  return made;
}

function textButton(text, onClick) {
  const button = element("button", "action", text);
  button.type = "button";
  button.onclick = onClick;
  return button;
}

function fold(node, context) {
  const [short, whole] = node.c.map((child) => build(child, context));
  const frame = element("div", "fold");
  const button = textButton(node.s, () => {
    short.replaceWith(whole);
    button.remove();
    whole.tabIndex = -1;
    whole.focus();
  });
  frame.append(short, button);
  return frame;
}

function toggle(node, context) {
  const button = textButton(node.s, () => context.toggle(node.n));
  button.dataset.toggle = node.n;
  return button;
}

function shapeCell(cell, node) {
  if (node.span > 1) cell.colSpan = node.span;
  if (node.t === "th") cell.scope = node.span > 1 ? "colgroup" : "col";
  cell.classList.toggle("right", node.right === true && !(node.span > 1));
  cell.classList.toggle("group", node.t === "th" && node.span > 1);
  cell.classList.toggle("marked", node.marked === true);
  if (node.indent > 0) cell.style.paddingLeft = `${0.6 + node.indent}em`;
}

// Scrolls a wide table sideways to its first marked figure, as soon as the table is visible. The labels in the first
// column stay in view anyway.
function scrollToMarks(frame) {
  const cell = frame.querySelector("td.marked:not(:first-child)");
  if (!cell) return;
  const watch = new ResizeObserver(() => {
    if (!frame.clientWidth) return;
    watch.disconnect();
    if (cell.offsetLeft + cell.offsetWidth <= frame.clientWidth) return;
    const labels = cell.parentElement.firstElementChild.offsetWidth;
    frame.scrollLeft = cell.offsetLeft - labels - (frame.clientWidth - labels - cell.offsetWidth) / 2;
  });
  watch.observe(frame);
}

// The button that opened the source. When the source closes, it cannot return the focus to this button, because the
// button is in a shadow tree, so `awaitReturn` does.
let left = null;

function citesOf(root) {
  return [...root.querySelectorAll(".cite, button.verdict")];
}

function awaitReturn() {
  let opened = false;
  const watch = new MutationObserver(() => {
    const open = document.querySelector("[role=dialog]") !== null;
    opened ||= open;
    if (!opened || open) return;
    watch.disconnect();
    // If another element has the focus, the reader has moved the focus there, so leave it.
    requestAnimationFrame(() => { if (document.activeElement === document.body) left.button?.focus({ preventScroll: true }); });
  });
  watch.observe(document.body, { childList: true, subtree: true, attributeFilter: ["role"] });
}

function cite(node, { sources, open, words }) {
  const source = sources[node.n];
  return sourceButton("cite", node.s || `[${node.n}]`, `${words.source} ${node.n}: ${source}`, node.n, source, open);
}

// Shows the result of checking a statement. A click opens the passage that the statement was compared with.
function verdict(node, { sources, open, words }) {
  const source = sources[node.n];
  if (!source) return element("span", "verdict", node.s);
  const tip = `${words.compared} ${source}`;
  return sourceButton("verdict", node.s, `${node.s}. ${tip}`, node.n, tip, open);
}

function sourceButton(kind, text, label, number, source, open) {
  const button = element("button", kind, text);
  button.type = "button";
  button.setAttribute("aria-label", label);
  button.onclick = () => {
    const root = button.closest(".root");
    left = { button, root, place: citesOf(root).indexOf(button) };
    open(number);
    awaitReturn();
  };
  button.onmouseenter = button.onfocus = () => showTip(button, source);
  button.onmouseleave = button.onblur = () => hideTip(button);
  button.onkeydown = (event) => {
    if (event.key === "Escape") hideTip(button);
    if (event.key !== "Enter" && event.key !== " ") return;
    // Otherwise the browser turns the key press into a click. The dialog would mistake it for a click by a screen
    // reader, and might never take the focus.
    event.preventDefault();
    if (!event.repeat) button.onclick();
  };
  button.onkeyup = (event) => { if (event.key === " ") event.preventDefault(); };
  return button;
}

// Shows a custom tooltip, because the browser's own tooltip is slow and does not appear when the keyboard moves the
// focus to the button. The tooltip stays within the width of the text.
function showTip(button, source) {
  const root = button.closest(".root");
  hideTip(button);
  const tip = root.appendChild(element("div", "tip", source));
  tip.setAttribute("role", "tooltip");
  const left = button.offsetLeft + button.offsetWidth / 2 - tip.offsetWidth / 2;
  tip.style.left = `${Math.max(0, Math.min(left, root.clientWidth - tip.offsetWidth))}px`;
  tip.style.top = `${button.offsetTop + button.offsetHeight + 4}px`;
}

function hideTip(button) {
  for (const tip of button.closest(".root")?.querySelectorAll(".tip") ?? []) tip.remove();
}

function scores(rows) {
  const grid = element("div", "scores");
  for (const row of rows) {
    const track = element("div", "track");
    track.setAttribute("role", "img");
    track.setAttribute("aria-label", `${row.name} ${row.text}${row.note ? ", " + row.note : ""}`);
    const fill = track.appendChild(element("div", "fill"));
    fill.style.width = `${100 * row.share}%`;
    if (row.tick !== null) track.appendChild(element("div", "tick")).style.left = `calc(${100 * row.tick}% - 1px)`;
    grid.append(element("span", "name", row.name), track, element("span", "value", row.text),
      element("span", "note", row.note));
  }
  return grid;
}

function copyButton(text, label, words) {
  const button = textButton(label, async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = words.copied;
    } catch {
      button.textContent = words.noCopy;
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });
  return button;
}

export default function (component) {
  const { parentElement, data, setTriggerValue } = component;
  const drawn = JSON.stringify(data);
  const old = parentElement.querySelector(".root");
  const open = (number) => setTriggerValue("cite", number);
  const toggleTable = (number) => setTriggerValue("toggle", number);
  // A rerun calls this function again with the same data. Rebuilding the elements would take the focus from a button.
  if (old && old.drawn === drawn) {
    Object.assign(old.context, { open, toggle: toggleTable });
    return;
  }
  const root = element("div", data.small ? "root small" : "root");
  root.drawn = drawn;
  root.context = { sources: data.sources || {}, open, toggle: toggleTable };
  const context = { sources: root.context.sources, words: data.words, open: (number) => root.context.open(number),
    toggle: (number) => root.context.toggle(number) };
  for (const node of data.blocks) root.append(build(node, context));
  if (data.copy) root.append(copyButton(data.copy, data.copyLabel, data.words));
  // If the text that contains the remembered button was drawn again, remember the new button in its place.
  if (left?.root.drawn === drawn) {
    left.root = root;
    left.button = citesOf(root)[left.place];
  }
  const focused = old?.querySelector("button:focus")?.dataset.toggle;
  if (old) old.replaceWith(root);
  else parentElement.append(root);
  if (focused) root.querySelector(`[data-toggle="${focused}"]`)?.focus();
  root.querySelectorAll(".table").forEach(scrollToMarks);
}
