const CHOICES = '[data-testid="stSidebarNav"] a, .st-key-new_chat button, [class*="st-key-open_"] button';
const CLOSE = '[data-testid="stSidebarCollapseButton"] button';

export default function () {
    // The listener stays, because Streamlit removes the component while it changes the page.
    if (window.footnoteClosesSidebar) return;
    window.footnoteClosesSidebar = true;
    const close = (event) => {
        if (window.innerWidth < 768 && event.target.closest('[data-testid="stSidebar"]') && event.target.closest(CHOICES))
            setTimeout(() => document.querySelector(CLOSE)?.click()); // after Streamlit has handled the click
    };
    // Streamlit stops the event at the navigation link, so catch it on its way to the link.
    document.addEventListener("click", close, { capture: true });
}
