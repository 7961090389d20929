export default function ({ data, parentElement }) {
    const part = document.querySelector(`.st-key-${CSS.escape(data.part)}`);
    // The script runs again whenever the page does.
    if (!part || parentElement.footnoteScrolled) return;
    parentElement.footnoteScrolled = true;
    part.style.scrollMarginTop = "4rem"; // the height of Streamlit's header, which covers the top of a narrow page
    part.scrollIntoView();
}
