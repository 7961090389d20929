// Lets the reader drop files anywhere on the page: they are given to the drop zone, or to the input if there is none.
const find = () =>
    document.querySelector('[data-testid="stFileUploaderDropzoneInput"]:not(:disabled)') ??
    document.querySelector('[data-testid="stChatInputFileUploadButton"] input[type="file"], [data-testid="stChatInput"] input[type="file"]');
const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
const isOwn = (event) => event.target.closest?.('[data-testid="stFileUploaderDropzone"], [data-testid="stChatInput"]');

function mark(isOver) {
    document.body.classList.toggle("footnote-dropping", isOver);
}

function over(event) {
    if (!hasFiles(event)) return;
    event.preventDefault();
    mark(true);
}

function leave(event) {
    if (!event.relatedTarget) mark(false);
}

function drop(event) {
    if (!hasFiles(event)) return;
    mark(false);
    if (isOwn(event)) return;
    event.preventDefault();
    const input = find();
    if (!input) return;
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
}

export default function () {
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
        mark(false);
        document.removeEventListener("dragover", over);
        document.removeEventListener("dragleave", leave);
        document.removeEventListener("drop", drop);
    };
}
