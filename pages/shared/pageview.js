// A page image that can be larger than its frame; the frame scrolls, by keyboard too.
export default function ({ parentElement, data }) {
  let frame = parentElement.querySelector(".frame");
  if (!frame) {
    frame = document.createElement("div");
    frame.className = "frame";
    frame.tabIndex = 0;
    frame.append(document.createElement("img"));
    parentElement.append(frame);
  }
  const image = frame.querySelector("img");
  if (image.src !== data.src) image.src = data.src;
  image.alt = data.alt;
  image.style.width = `${100 * data.zoom}%`;
  frame.setAttribute("aria-label", data.alt);
}
