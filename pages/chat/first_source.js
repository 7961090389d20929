// Moves the focus to the first source of the newest answer. Between the input and that source are all other controls of
// the answer.
export default function ({ parentElement }) {
    parentElement.querySelector("button").onclick = () => {
        const answers = document.querySelectorAll('[data-testid="stChatMessageContent"][aria-label^="Answer"]');
        for (const one of answers[answers.length - 1]?.querySelectorAll("*") ?? []) {
            const source = one.shadowRoot?.querySelector(".cite");
            if (source) return source.focus();
        }
    };
}
