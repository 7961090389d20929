// Brings the newest question into view once, when it is asked or its conversation is opened. It then stays where it is,
// and the answer grows below it.
export default function ({ data }) {
    if (window.footnoteShownQuestion === data.question) return;
    window.footnoteShownQuestion = data.question;
    requestAnimationFrame(() => {
        const questions = document.querySelectorAll('[data-testid="stChatMessageContent"]:is([aria-label^="Question"], [aria-label$="user"])');
        const message = questions[questions.length - 1]?.closest('[data-testid="stChatMessage"]');
        if (!message) return;
        const { top } = message.getBoundingClientRect();
        if (top >= 0 && top < window.innerHeight / 3) return;
        message.style.scrollMarginTop = "4rem"; // the height of Streamlit's header, which covers the top of a narrow page
        message.scrollIntoView({ block: "start" });
    });
}
