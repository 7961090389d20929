// Browsers open a tab only while they handle a click, but the address is known a moment later. So this opens
// an empty tab at once, and loads the address in it.
export default function ({ parentElement, data, setTriggerValue }) {
  let button = parentElement.querySelector(".open-pdf");
  if (!button) {
    button = document.createElement("button");
    button.type = "button";
    button.className = "open-pdf";
    parentElement.append(button);
  }
  button.textContent = data.label;
  button.onclick = () => {
    button.tab = window.open("about:blank", "_blank");
    setTriggerValue("open", true);
  };
  if (data.address && button.tab) {
    button.tab.location.replace(new URL(data.address, window.location.origin));
    button.tab = null;
  }
}
