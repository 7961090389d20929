// Shows the stages of a search as columns of buttons. Untrusted text is never parsed as HTML.
function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function row(one, stage, context) {
  const button = element("button", "row");
  button.type = "button";
  button.dataset.id = one.id;
  button.title = one.preview;
  button.setAttribute("aria-label",
    `${stage.name} ${one.label}, ${one.document}, ${one.page}, score ${one.score}`);
  const badge = element("span", "badge", one.letter);
  badge.style.background = one.colour;
  button.append(element("span", "rank", String(one.rank)), badge, element("span", "document", one.document),
    element("span", "page", one.page), element("span", "score", one.score));
  const follow = (on) => context.follow(one.id, on);
  button.onmouseenter = button.onfocus = () => follow(true);
  button.onmouseleave = button.onblur = () => follow(false);
  button.onclick = () => context.open(one.id);
  const item = element("li", "");
  item.append(button);
  return item;
}

function column(stage, context) {
  const made = element("section", "stage");
  made.setAttribute("aria-label", stage.name);
  const head = element("div", "head");
  head.append(element("strong", "", stage.words || stage.name),
    element("span", "words", stage.words ? stage.name : ""));
  const list = element("ol", "rows");
  for (const one of stage.rows) list.append(row(one, stage, context));
  made.append(head, list, element("div", "note", stage.note));
  return made;
}

export default function (component) {
  const { parentElement, data, setTriggerValue } = component;
  const drawn = JSON.stringify(data);
  const old = parentElement.querySelector(".root");
  const open = (id) => setTriggerValue("open", id);
  // A rerun calls this function again with the same data. Rebuilding the elements would take the focus from a button.
  if (old && old.drawn === drawn) {
    old.open = open;
    return;
  }
  const root = element("div", "root");
  root.drawn = drawn;
  root.open = open;
  const follow = (id, on) => {
    root.classList.toggle("following", on);
    for (const button of root.querySelectorAll(".row")) button.classList.toggle("same", on && button.dataset.id === id);
  };
  for (const stage of data.stages) root.append(column(stage, { follow, open: (id) => root.open(id) }));
  if (old) old.replaceWith(root);
  else parentElement.append(root);
}
