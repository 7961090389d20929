// Brings the newest question into view once, when it is asked or its conversation is opened. It then stays where it is,
// and the answer grows below it. What is read stays in its place when the width of the conversation changes, as it does
// when a source opens beside it.
const QUESTIONS = '[data-testid="stChatMessageContent"]:is([aria-label^="Question"], [aria-label$="user"])';
const MAIN = '[data-testid="stMain"]';
const CONTENT = '[data-testid="stMainBlockContainer"]';
const PANEL = ".st-key-source_panel";
const SETTLED_MS = 1000;
const HEADER = 64; // pixels of Streamlit's header, which covers the top of a narrow page

function show(data, attempts) {
    const questions = document.querySelectorAll(QUESTIONS);
    // A question that was just asked may not be drawn yet.
    if (questions.length < data.shown && attempts) return void requestAnimationFrame(() => show(data, attempts - 1));
    const message = questions[questions.length - 1]?.closest('[data-testid="stChatMessage"]');
    if (!message) return;
    const { top } = message.getBoundingClientRect();
    if (top < 0 || top >= window.innerHeight / 3) {
        message.style.scrollMarginTop = `${HEADER}px`;
        message.scrollIntoView({ block: "start" });
    }
    window.footnoteKeepsPlace?.hold(message);
}

// Returns the element at the top of what is visible, also inside of a component.
function findFirstVisible(main) {
    const { left, width } = main.querySelector(CONTENT).getBoundingClientRect();
    const [x, y] = [left + width / 2, HEADER + 16];
    let found = document.elementFromPoint(x, y);
    for (let inside; (inside = found?.shadowRoot?.elementFromPoint(x, y)) && inside !== found;) found = inside;
    return found && main.contains(found.getRootNode().host ?? found) && !found.closest(PANEL) ? found : null;
}

function keepPlace(content) {
    const main = content.closest(MAIN);
    let kept = null;
    let width = content.clientWidth;
    let changed = -Infinity;
    let moved = -Infinity; // when the reader last scrolled
    const keep = (element) => { if (element) kept = { element, top: element.getBoundingClientRect().top }; };
    const scrolled = () => {
        // If a new width makes the conversation shorter than the scroll position, the browser scrolls by itself before
        // it calls the observer below. The kept element may then be out of view, but must still be kept.
        if (content.clientWidth !== width && performance.now() - moved > SETTLED_MS) return;
        const { top, bottom } = kept?.element.getBoundingClientRect() ?? {};
        keep(kept?.element.isConnected && bottom > HEADER && top < window.innerHeight ? kept.element : findFirstVisible(main));
    };
    // What the reader clicks stays in its place.
    const used = (event) => {
        const path = event.composedPath();
        if (path.includes(content) && !path.some((one) => one.matches?.(PANEL))) keep(path[0]);
    };
    const watch = new ResizeObserver(() => {
        // The elements in the content take their new width some frames after the content does.
        if (content.clientWidth !== width) changed = performance.now();
        width = content.clientWidth;
        if (!kept?.element.isConnected) kept = null;
        if (kept && performance.now() - changed < SETTLED_MS) main.scrollTop += kept.element.getBoundingClientRect().top - kept.top;
        if (kept) keep(kept.element);
        else scrolled();
    });
    const noteMove = () => { moved = performance.now(); };
    watch.observe(content);
    main.addEventListener("scroll", scrolled, { passive: true });
    for (const type of ["wheel", "touchmove"]) main.addEventListener(type, noteMove, { passive: true });
    document.addEventListener("click", used, { capture: true });
    return {
        content,
        // Keeps a message where it was just brought to, while earlier answers are drawn again above it.
        hold: (message) => { keep(message); changed = performance.now(); },
        stop: () => {
            watch.disconnect();
            main.removeEventListener("scroll", scrolled);
            for (const type of ["wheel", "touchmove"]) main.removeEventListener(type, noteMove);
            document.removeEventListener("click", used, { capture: true });
        },
    };
}

export default function ({ data }) {
    if (window.footnoteShownQuestion !== data.question) {
        window.footnoteShownQuestion = data.question;
        requestAnimationFrame(() => show(data, 60));
    }
    // Streamlit calls this function in each run. What is kept in its place must outlast the run that opens a source.
    const content = document.querySelector(CONTENT);
    if (window.footnoteKeepsPlace?.content !== content) {
        window.footnoteKeepsPlace?.stop();
        window.footnoteKeepsPlace = keepPlace(content);
    }
}
