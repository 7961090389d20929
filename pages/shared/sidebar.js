const CHOICES = '.st-key-navigation a, .st-key-new_chat button, [class*="st-key-open_"] button';
const COLLAPSED = '[data-testid="stSidebar"][data-collapsed="true"]';
const CLOSE = '[data-testid="stSidebarCollapseButton"] button';

const MODAL = '[data-testid="stDialog"]';
const PAGE = '[data-testid="stSidebar"], [data-testid="stMain"]';

// When a modal dialog closes, returns the focus to the button that opened it. Streamlit returns it to the entry of a
// menu, which is gone by then.
function returnFocus() {
    let left = null;
    let wasOpen = false;
    document.addEventListener("focusin", ({ target }) => {
        if (!target.closest(MODAL) && target.closest(PAGE)) left = target;
    });
    new MutationObserver(() => {
        const isOpen = document.querySelector(MODAL) !== null;
        if (wasOpen && !isOpen) setTimeout(() => {
            if (document.activeElement === document.body) left?.focus({ preventScroll: true });
        }, 100); // after Streamlit has tried to return it
        wasOpen = isOpen;
    }).observe(document.body, { childList: true, subtree: true });
}

export default function ({ data }) {
    document.documentElement.lang = data.language;
    // The listener stays, because Streamlit removes the component while it changes the page.
    if (window.footnoteClosesSidebar) return;
    window.footnoteClosesSidebar = true;
    returnFocus();
    // A click on the close button has no effect while the sidebar still opens, and a change of the page may replace the
    // sidebar. So the click is repeated until the sidebar is collapsed.
    const close = (attempts) => {
        if (!attempts || document.querySelector(COLLAPSED)) return;
        document.querySelector(CLOSE)?.click();
        setTimeout(() => close(attempts - 1), 100);
    };
    const choose = (event) => {
        if (window.innerWidth < 768 && event.target.closest('[data-testid="stSidebar"]') && event.target.closest(CHOICES))
            setTimeout(() => close(100)); // after Streamlit has handled the click
    };
    // Streamlit stops the event at the navigation link, so catch it on its way to the link.
    document.addEventListener("click", choose, { capture: true });
}
