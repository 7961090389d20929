const CHOICES = '.st-key-navigation a, .st-key-new_chat button, [class*="st-key-open_"] button';
const COLLAPSED = '[data-testid="stSidebar"][data-collapsed="true"]';
const CLOSE = '[data-testid="stSidebarCollapseButton"] button';

export default function ({ data }) {
    document.documentElement.lang = data.language;
    // The listener stays, because Streamlit removes the component while it changes the page.
    if (window.footnoteClosesSidebar) return;
    window.footnoteClosesSidebar = true;
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
