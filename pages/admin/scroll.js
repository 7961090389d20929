export default function ({ data }) {
    const part = document.querySelector(`.st-key-${CSS.escape(data.part)}`);
    if (!part) return;
    part.style.scrollMarginTop = "4rem"; // the height of Streamlit's header, which covers the top of a narrow page
    part.scrollIntoView();
}
