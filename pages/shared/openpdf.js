// Browsers open a tab only while a click is being handled, but the address is known a moment later:
// so an empty tab is opened at once and sent there.
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
