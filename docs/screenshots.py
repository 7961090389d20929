"""Take the pictures in README from the app itself, over its own guide.

python -m docs.screenshots
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from rag_core.guide import GUIDE_QUESTIONS
from tests.browser.conftest import ARGUMENTS, PATIENCE_MS, ask, chromium, quiet, serve

HERE = Path(__file__).parent


def main() -> None:
    expect.set_options(timeout=PATIENCE_MS)
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(Path(folder) / "data") as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": 1360, "height": 860}, color_scheme=scheme)
            page = context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.goto(address)
            quiet(page)
            if scheme == "light":
                page.get_by_role("button", name="Try it with the guide").click()
                expect(page.get_by_role("button", name=GUIDE_QUESTIONS[0])).to_be_visible()
                quiet(page)
            ask(page, GUIDE_QUESTIONS[0])
            expect(page.get_by_role("button", name="Source 1").first).to_be_visible()
            quiet(page)
            page.screenshot(path=HERE / f"chat-{scheme}.png")
            page.get_by_role("button", name="Source 1").first.click()
            expect(page.get_by_role("dialog").locator("img")).to_be_visible()
            quiet(page)
            page.screenshot(path=HERE / f"source-{scheme}.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
