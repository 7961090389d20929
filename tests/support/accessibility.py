"""Accessibility of a page as axe-core judges it (WCAG 2.2 AA and its best practices), except for its contrast."""

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
_OPTIONS = {"resultTypes": ["violations"], "rules": {"color-contrast": {"enabled": False}}}


def find_violations(page: Page) -> list[str]:
    """Return the elements that break a rule of axe-core, each with the rule and a hint.

    `contrast.find_faint_text` computes the contrast in both themes, and in shadow roots, too.
    """
    found = _AXE.run(page, options=_OPTIONS).response
    return [
        f"{one['id']}: {node['html'][:200]} ({node['failureSummary']})"
        for one in found["violations"]
        for node in one["nodes"]
        if one["id"] not in _OF_STREAMLIT
        or not page.evaluate(_IS_OF_STREAMLIT, [node["target"][0], _OF_STREAMLIT[one["id"]]])
    ]
