// Makes the container of the source a dialog beside the page: it has a name, takes the focus when it opens, closes on
// Escape and returns the focus. It is not modal, so that the reader can go on reading, clicking and asking.
const PANEL = ".st-key-source_panel";
const MODAL = '[data-testid="stDialog"]';

function listen() {
    if (window.footnoteClosesSource) return;
    window.footnoteClosesSource = true;
    document.addEventListener("keydown", (event) => {
        const panel = document.querySelector(PANEL);
        if (event.key !== "Escape" || event.defaultPrevented || !panel || document.querySelector(MODAL)) return;
        // In a field or a menu, Escape has another meaning.
        if (!event.composedPath()[0].matches?.("input, textarea, [aria-expanded=true]")) panel.requestClose?.();
    });
}

export default function ({ data, setTriggerValue }) {
    const panel = document.querySelector(PANEL);
    if (!panel) return;
    listen();
    panel.requestClose = () => setTriggerValue("close", true);
    panel.setAttribute("role", "dialog");
    panel.setAttribute("aria-label", data.label);
    panel.tabIndex = -1;
    if (panel.opened === data.opened) return;
    panel.opened = data.opened;
    panel.scrollTop = 0;
    if (panel.contains(document.activeElement)) return;
    const opener = document.activeElement;
    panel.focus({ preventScroll: true });
    return () => requestAnimationFrame(() => {
        if (document.activeElement === document.body && !document.querySelector(PANEL)) opener.focus?.();
    });
}
