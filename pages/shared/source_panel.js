// Makes the container of the source a dialog beside the page: it has a name, takes the focus when it opens, closes on
// Escape and returns the focus. It is not modal, so that the reader can go on reading, clicking and asking.
const PANEL = ".st-key-source_panel";
const MODAL = '[data-testid="stDialog"]';

export default function ({ data, setTriggerValue }) {
    const panel = document.querySelector(PANEL);
    if (!panel) return;
    // Streamlit calls only the last of the functions that this one returns, and only when it removes the component.
    panel.listening?.abort();
    const listening = panel.listening = new AbortController();
    document.addEventListener("keydown", (event) => {
        if (event.key !== "Escape" || event.defaultPrevented || document.querySelector(MODAL)) return;
        // In a field or a menu, Escape has another meaning.
        if (!event.composedPath()[0].matches?.("input, textarea, [aria-expanded=true]")) setTriggerValue("close", true);
    }, { signal: listening.signal });
    panel.setAttribute("role", "dialog");
    panel.setAttribute("aria-label", data.label);
    panel.tabIndex = -1;
    if (panel.opened !== data.opened) {
        panel.opened = data.opened;
        panel.scrollTop = 0;
        if (!panel.contains(document.activeElement)) {
            panel.opener = document.activeElement;
            panel.focus({ preventScroll: true });
        }
    }
    return () => {
        listening.abort();
        requestAnimationFrame(() => {
            if (document.activeElement === document.body && !document.querySelector(PANEL)) panel.opener?.focus?.({ preventScroll: true });
        });
    };
}
