"""The contrast of all visible text of a page, computed in the browser (WCAG 2.2, 1.4.3 and 1.4.11)."""

from __future__ import annotations

from playwright.sync_api import Page

# Text needs 4.5:1, large text and icons 3:1. Disabled controls are exempt.
_FIND = r"""() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const parse = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = (front, back) => back.map((value, i) => front[3] * front[i] + (1 - front[3]) * value);
    const luminance = (rgb) => {
        const [r, g, b] = rgb.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const parent = (node) => node.parentElement ?? node.getRootNode().host ?? null;
    const ancestors = (node) => { const all = []; for (; node; node = parent(node)) all.unshift(node); return all; };
    // The value of a slider is a child of its thumb, but stands above it.
    const isBehind = (one, element) => one !== element.closest("[data-testid=stSliderThumbValue]")?.parentElement;
    const contrastOf = (element, colour) => {
        let back = [255, 255, 255], opacity = 1;
        for (const one of ancestors(element)) {
            const style = getComputedStyle(one);
            opacity *= Number(style.opacity);
            const [r, g, b, a] = parse(style.backgroundColor);
            if (isBehind(one, element)) back = over([r, g, b, a * opacity], back);
        }
        const [r, g, b, a] = parse(colour);
        if (a * opacity === 0) return Infinity;
        const pair = [luminance(over([r, g, b, a * opacity], back)), luminance(back)].sort((x, y) => y - x);
        return (pair[0] + 0.05) / (pair[1] + 0.05);
    };
    const isHidden = (element) => {
        const { width, height } = element.getBoundingClientRect();
        const isShown = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
        return width <= 1 || height <= 1 || !isShown;
    };
    const isExempt = (element) => ancestors(element).some(
        (one) => one.matches(":disabled, [aria-disabled=true], [inert], canvas")
    );
    const found = [];
    const check = (element, colour, text) => {
        if (isHidden(element) || isExempt(element)) return;
        const style = getComputedStyle(element), size = parseFloat(style.fontSize);
        const isIcon = /Material/.test(style.fontFamily);
        const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
        const contrast = contrastOf(element, colour);
        if (contrast < (isIcon || isLarge ? 3 : 4.5)) found.push(`${text.trim().slice(0, 60)}: ${contrast.toFixed(2)}`);
    };
    const visit = (root) => {
        for (const element of root.querySelectorAll("*")) {
            if (element.shadowRoot) visit(element.shadowRoot);
            if (element.matches("script, style, svg, svg *")) continue;
            if (element.placeholder && !element.value)
                check(element, getComputedStyle(element, "::placeholder").color, element.placeholder);
            const own = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join("");
            if (own.trim()) check(element, getComputedStyle(element).color, own);
        }
    };
    visit(document.body);
    return found;
}"""


def find_faint_text(page: Page) -> list[str]:
    """Return the visible texts whose contrast is too low, each with its contrast."""
    return list(page.evaluate(_FIND))
