"""Accessibility of a page as axe-core judges it (WCAG 2.2 AA and its best practices)."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# Rules that markup of Streamlit breaks which no setting changes, each with a selector of the affected elements.
_OF_STREAMLIT = {
    # The navigation puts a heading and its pages into a `div` inside of the list.
    "list": "[data-testid=stSidebarNavItems]",
    "listitem": "[data-testid=stSidebarNavItems] li",
    # The area for files has the role "presentation" and a name.
    "presentation-role-conflict": "[data-testid=stFileUploaderDropzone]",
}
_IS_OF_STREAMLIT = "([target, selector]) => document.querySelector(target)?.matches(selector) ?? false"
_AXE = Axe()


def find_violations(page: Page, *rules: str) -> list[str]:
    """Return the elements that break these rules of axe-core, or any rule, each with the rule and a hint."""
    only = {"type": "rule", "values": rules} if rules else None
    found = _AXE.run(page, options={"resultTypes": ["violations"]} | ({"runOnly": only} if only else {})).response
    return [
        f"{one['id']}: {node['html'][:200]} ({node['failureSummary']})"
        for one in found["violations"]
        for node in one["nodes"]
        if one["id"] not in _OF_STREAMLIT
        or not page.evaluate(_IS_OF_STREAMLIT, [node["target"][0], _OF_STREAMLIT[one["id"]]])
    ]
