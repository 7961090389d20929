// The engine highlights words in a clear yellow. `showMarks` finds the first highlight in a small copy of the image
// and scrolls to it. Without a highlight, the frame stays at the top.
const COLUMNS = 150;
const ENOUGH = 3;

function showMarks(frame, image) {
  const rows = Math.round((COLUMNS * image.naturalHeight) / image.naturalWidth);
  const canvas = Object.assign(document.createElement("canvas"), { width: COLUMNS, height: rows });
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0, COLUMNS, rows);
  const { data } = context.getImageData(0, 0, COLUMNS, rows);
  for (let row = 0; row < rows; row += 1) {
    let marked = 0;
    for (let at = row * COLUMNS * 4; at < (row + 1) * COLUMNS * 4; at += 4) {
      if (data[at] > 180 && data[at + 1] > 150 && data[at + 2] < data[at + 1] - 60) marked += 1;
    }
    if (marked >= ENOUGH) {
      frame.scrollTop = (row / rows) * image.clientHeight - frame.clientHeight / 3;
      return;
    }
  }
}

// Shows a page image, which can be larger than its frame. The frame can have the focus, so that keys scroll it.
export default function ({ parentElement, data }) {
  let frame = parentElement.querySelector(".page-frame");
  if (!frame) {
    frame = document.createElement("div");
    frame.className = "page-frame";
    frame.tabIndex = 0;
    frame.append(document.createElement("img"));
    parentElement.append(frame);
  }
  const image = frame.querySelector("img");
  if (image.src !== data.src) {
    image.onload = () => showMarks(frame, image);
    image.src = data.src;
  }
  image.alt = data.alt;
  image.style.width = `${100 * data.zoom}%`;
  frame.setAttribute("aria-label", data.alt);
}
