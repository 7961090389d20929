// A browser allows a script to open a tab only while it handles a click, but the server sends the address a moment
// later. So a click opens an empty tab at once, and the address is loaded into this tab when it is known.
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
