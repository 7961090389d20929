"""Files on the Documents page while they are indexed."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.support.browser import OpenApp
from tests.support.pdfs import make_pdf

# Records the lines of the files that are being indexed, and the buttons beside them, whenever they stay the same for 50
# ms. Streamlit sends the elements of a page one by one, so that it changes one line before it removes another.
WATCH = """() => {
    window.seen = [];
    const visible = (selector) =>
        [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility()).map((one) => one.innerText);
    let timer = 0;
    const look = () => {
        const lines = visible("[data-testid=stProgress], [data-testid=stCaptionContainer]");
        window.seen.push([lines.filter((line) => /Indexing|waiting for/.test(line)), visible("button")]);
    };
    const wait = () => { clearTimeout(timer); timer = setTimeout(look, 50); };
    new MutationObserver(wait).observe(document, { subtree: true, childList: true, characterData: true });
}"""


def long_pdf(topic: str, pages: int) -> bytes:
    texts = [
        [f"{topic} {n} of page {page} carried {n * page} tons of grain." for n in range(14)] for page in range(pages)
    ]
    return make_pdf(*texts)


def test_each_file_has_one_line_and_one_button(open_app: OpenApp, address: str) -> None:
    page = open_app(f"{address}/documents")
    page.evaluate(WATCH)
    files = {"fleet.pdf": long_pdf("Ship", 120), "pier.pdf": make_pdf("The pier is 90 metres long.")}
    files["train.pdf"] = long_pdf("Train", 30)
    page.set_input_files(
        "input[type=file]",
        [{"name": name, "mimeType": "application/pdf", "buffer": data} for name, data in files.items()],
    )
    for name in files:
        expect(page.get_by_text(f"{name} is ready.")).to_be_visible()
    seen = page.evaluate("window.seen")
    lines = [line for shown, _ in seen for line in shown]
    assert any("left" in line for line in lines)
    assert any(line.endswith(": waiting for fleet.pdf") for line in lines)
    assert not [line for line in lines if " 0 of " in line or line.endswith("waiting")]
    for shown, buttons in seen:
        names = [name for name in files for line in shown if name in line.removesuffix("waiting for fleet.pdf")]
        assert len(names) == len(set(names)), shown
        assert "Stop" not in buttons
