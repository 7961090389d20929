// Shows the words of a question and the words of a passage that match them. Untrusted text is never parsed as HTML.
function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function word(one, position, follow) {
  const button = element("button", "word");
  button.type = "button";
  const words = `weight ${one.weight}, matches “${one.met}”, similarity ${one.similarity}`;
  button.title = words;
  button.setAttribute("aria-label", `${one.s}: ${words}`);
  const bar = element("span", "bar");
  bar.style.width = `${100 * one.share}%`;
  button.append(element("span", "text", one.s), element("span", "weight", one.weight), bar);
  button.onmouseenter = button.onfocus = () => follow(position, true);
  button.onmouseleave = button.onblur = () => follow(position, false);
  return button;
}

function piece(one) {
  if (!one.n) return document.createTextNode(one.s);
  const mark = element("mark", "", one.s);
  mark.words = one.words;
  mark.style.setProperty("--strength", `${Math.round(8 + 37 * one.n)}%`);
  mark.style.borderBottomWidth = `${1 + Math.round(2 * one.n)}px`;
  return mark;
}

export default function (component) {
  const { parentElement, data } = component;
  const root = element("div", "matches");
  const passage = element("p", "passage");
  passage.append(...data.text.map(piece));
  const follow = (position, on) => {
    for (const mark of passage.querySelectorAll("mark")) {
      mark.classList.toggle("met", on && mark.words.includes(position));
    }
  };
  const words = element("div", "words");
  words.append(...data.words.map((one, position) => word(one, position, follow)));
  root.append(words, passage);
  const old = parentElement.querySelector(".matches");
  if (old) old.replaceWith(root);
  else parentElement.append(root);
}
