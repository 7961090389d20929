// Names the messages for screen readers ("Question 2", "Answer 2"), and announces an answer when it is complete.
export default function ({ data, parentElement }) {
    const name = () => {
        let number = data.hidden;
        for (const one of document.querySelectorAll('[data-testid="stChatMessageContent"]')) {
            const asks = /user|Question/.test(one.ariaLabel);
            if (asks) number += 1;
            const label = `${asks ? "Question" : "Answer"} ${number}`;
            if (one.ariaLabel !== label) one.ariaLabel = label;
        }
    };
    name();
    // An answer that is being written is drawn later than this component.
    const observer = new MutationObserver(name);
    observer.observe(document.body, { childList: true, subtree: true });
    const place = parentElement.querySelector("[role=status]");
    if (data.answer && place.dataset.shown !== undefined && place.dataset.shown !== data.answer) place.textContent = data.text;
    place.dataset.shown = data.answer;
    return () => observer.disconnect();
}
