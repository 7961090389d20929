"""Rendered pages with highlights, and text recognition."""

from __future__ import annotations

import io
from contextlib import closing
from pathlib import Path
from string import ascii_lowercase

import numpy as np
import pytest
from PIL import Image, ImageDraw
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from rag_core.errors import DamagedDocument, EncryptedDocument, ExtractionFailed
from rag_core.parsing import ocr
from rag_core.parsing.highlights import draw_highlights
from rag_core.parsing.pdf.document import PdfiumDocument
from rag_core.parsing.rendering import PageRenderer
from rag_core.types.documents import PageState
from tests.support.drawn_pdfs import PROSE, encrypted, lines, make, read
from tests.support.engines import raising


@pytest.fixture(scope="module")
def renderer():
    with closing(PageRenderer(timeout_s=20)) as renderer:
        yield renderer


def test_highlights_color_the_background_of_the_text(renderer: PageRenderer, tmp_path: Path) -> None:
    path = make(tmp_path / "a.pdf", lines(*PROSE))
    page = read(path).page
    plain = renderer.render(path, 0, scale=2.0)
    marked = renderer.render(path, 0, rects=page.boxes.find_overlapping(0, 11), scale=2.0)
    assert (plain.highlighted, marked.highlighted) == (0, 2)
    assert (marked.width, marked.height) == (round(page.width * 2), round(page.height * 2))
    before, after = (np.asarray(Image.open(io.BytesIO(image.png)).convert("RGB")) for image in (plain, marked))
    changed = (before != after).any(axis=2)
    rows, columns = np.nonzero(changed)
    x0, y0, x1, y1 = page.boxes.find_overlapping(0, 11).reshape(2, 4).T
    assert columns.min() >= x0.min() * marked.width - 3
    assert columns.max() <= x1.max() * marked.width + 3
    assert rows.min() >= y0.min() * marked.height - 3
    assert rows.max() <= y1.max() * marked.height + 3
    assert after[changed].min() < 40


def test_gaps_between_adjacent_words_are_highlighted() -> None:
    words = np.array(
        [[0.1, 0.1, 0.3, 0.2], [0.32, 0.1, 0.5, 0.2], [0.8, 0.1, 0.9, 0.2], [0.1, 0.3, 0.3, 0.4]], np.float32
    )
    png, count = draw_highlights(Image.new("RGB", (200, 200), "white"), words)
    image = Image.open(io.BytesIO(png)).convert("RGB")
    tinted = [image.getpixel(spot) != (255, 255, 255) for spot in ((62, 30), (130, 30), (62, 50), (40, 70))]
    assert (count, tinted) == (4, [True, False, False, True])


def test_changed_file_is_reopened(renderer: PageRenderer, tmp_path: Path) -> None:
    path = make(tmp_path / "a.pdf", lines("short"))
    first = renderer.render(path, 0)
    make(path, lines(*PROSE))
    assert renderer.render(path, 0).png != first.png


def test_errors_contain_the_file_name(renderer: PageRenderer, tmp_path: Path) -> None:
    with pytest.raises(EncryptedDocument, match=r"locked\.pdf"):
        renderer.render(encrypted(tmp_path / "locked.pdf", "secret"), 0)
    with pytest.raises((DamagedDocument, ExtractionFailed), match=r"a\.pdf"):
        renderer.render(make(tmp_path / "a.pdf", lines("x")), 99)


def picture_of(path: Path) -> Image.Image:
    """Render the first page as a scanner would."""
    with closing(PdfiumDocument(path)) as document, document.open_page(0) as reader:
        return reader.draw(2.5)


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scan")
    picture = picture_of(make(folder / "source.pdf", lines("Minutes of the meeting", "", *PROSE)))

    def image(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(picture), 0, 0, 595, 842)

    def stamped(canvas: Canvas) -> None:
        image(canvas)
        canvas.drawString(72, 60, "Received 4 May 2021")

    return make(folder / "scan.pdf", image, stamped)


def test_scanned_page_is_recognized_with_boxes(scan: Path) -> None:
    pytest.importorskip("rapidocr")
    page = read(scan, 0, "auto").page
    assert page.state is PageState.OCR
    assert page.confidence is not None
    assert 0.8 < page.confidence <= 1
    expected = " ".join(("Minutes of the meeting", *PROSE)).split()
    assert len(set(expected) & set(page.text.split())) >= 0.8 * len(set(expected))
    assert "Minutes" in page.text
    start = page.text.index("Minutes")
    x0, y0, x1, y1 = page.boxes.find_overlapping(start, start + 7)[0]
    assert x0 == pytest.approx(72 / 595, abs=0.03)
    assert y0 < 1 - 752 / 842 < y1 + 0.02
    assert x1 > x0
    assert all(page.text[start:end].strip() for start, end in zip(page.boxes.starts, page.boxes.ends, strict=True))


LOTS = ("Lot 68 was sold for 1,896 pounds on 9 May 1966.", "Lot 86 was kept, since nobody bid 9,861 pounds for it.")


@pytest.mark.parametrize("angle", [90, 180, 270, 2])
def test_rotated_scan_is_recognized(tmp_path: Path, angle: float) -> None:
    pytest.importorskip("rapidocr")
    source = make(tmp_path / "source.pdf", lines("Minutes of the meeting", "", *PROSE, "", *LOTS))
    picture = picture_of(source).rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor="white")
    picture.save(tmp_path / "scan.pdf", resolution=180)
    page = read(tmp_path / "scan.pdf", 0, "auto").page
    assert page.text.split() == " ".join(("Minutes of the meeting", *PROSE, *LOTS)).split()
    assert (page.state, page.reason) == (PageState.OCR, "")
    for word in ("Minutes", "founder", "1966"):
        start = page.text.index(word)
        straight = read(source).page
        x0, y0, x1, y1 = straight.boxes.find_overlapping(
            straight.text.index(word), straight.text.index(word) + len(word)
        )[0]
        across, down = ((x0 + x1) / 2 - 0.5) * 595, ((y0 + y1) / 2 - 0.5) * 842
        turn = np.radians(angle)
        expected = (
            0.5 + (across * np.cos(turn) + down * np.sin(turn)) / page.width,
            0.5 + (down * np.cos(turn) - across * np.sin(turn)) / page.height,
        )
        x0, y0, x1, y1 = page.boxes.find_overlapping(start, start + len(word))[0]
        assert ((x0 + x1) / 2, (y0 + y1) / 2) == pytest.approx(expected, abs=0.02)


def test_unreadable_lines_are_omitted_and_reported(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    picture = picture_of(make(tmp_path / "source.pdf", lines(*PROSE)))
    # Mirror the second line, as if it showed through from the other side of the paper.
    place = (150, round((842 - 747) * 2.5), 1300, round((842 - 733) * 2.5))
    picture.paste(picture.crop(place).transpose(Image.Transpose.FLIP_LEFT_RIGHT), place)
    picture.save(tmp_path / "scan.pdf", resolution=180)
    page = read(tmp_path / "scan.pdf", 0, "auto").page
    assert page.text.split() == f"{PROSE[0]} {PROSE[2]}".split()
    assert page.reason == "text recognition could not read 1 of its lines"


def test_stamped_scan_keeps_its_text_layer(scan: Path) -> None:
    pytest.importorskip("rapidocr")
    page = read(scan, 1, "auto").page
    assert page.state is PageState.MIXED
    assert "Received 4 May 2021" in page.text
    assert page.text.count("Received") == 1
    assert "bridges" in page.text


def with_layer(picture: Image.Image, path: Path, words: tuple[str, ...]) -> Path:
    """Return a scan whose invisible text layer contains other words than the picture."""

    def page(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(picture), 0, 0, 595, 842)
        layer = canvas.beginText(72, 740)
        layer.setTextRenderMode(3)
        for line in words:
            layer.textLine(line)
        canvas.drawText(layer)

    return make(path, page)


SHIFTED = str.maketrans(ascii_lowercase, ascii_lowercase[5:] + ascii_lowercase[:5])


def test_text_layer_without_words_is_replaced_by_recognized_text(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    picture = picture_of(make(tmp_path / "source.pdf", lines(*PROSE)))
    scan = with_layer(picture, tmp_path / "scan.pdf", tuple(line.translate(SHIFTED) for line in PROSE))
    page = read(scan, 0, "auto").page
    assert page.text.split() == " ".join(PROSE).split()
    assert (page.state, page.reason) == (
        PageState.OCR,
        "its text layer is not what the page shows, so the text was read from its image",
    )
    unread = read(scan, 0, "off").page
    assert unread.state is PageState.TEXT
    assert unread.reason.startswith("its letters form no words")


OTHER_PAGE = (
    "Rain fell on the upper valley for nine days and the river left its bed near the mill.",
    "Farmers moved their sheep to the barns of the abbey where hay was kept for such years.",
)


def test_text_layer_of_another_page_is_replaced(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    picture = picture_of(make(tmp_path / "source.pdf", lines(*PROSE)))
    page = read(with_layer(picture, tmp_path / "scan.pdf", OTHER_PAGE), 0, "auto").page
    assert page.text.split() == " ".join(PROSE).split()
    assert page.reason.startswith("its text layer is not what the page shows")


def test_picture_of_text_but_not_chart_is_read_in_its_place(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    order = picture_of(make(tmp_path / "source.pdf", lines("Purchase order", "Number 40 418 819", "Total 31.10 euros")))
    order = order.crop((125, 180, 825, 480))
    chart = Image.new("RGB", (700, 500), "white")
    ImageDraw.Draw(chart).line([(9 * number, 97 * number % 480) for number in range(75)], "navy", 4)

    def draw(canvas: Canvas) -> None:
        for place, line in enumerate(OTHER_PAGE):
            canvas.drawString(72, 780 - 600 * place, line)
        canvas.drawImage(ImageReader(order), 72, 560, 420, 180)
        canvas.drawImage(ImageReader(chart), 72, 250, 420, 280)

    page = read(make(tmp_path / "page.pdf", draw), 0, "auto").page
    assert page.text.split("\n\n") == [
        OTHER_PAGE[0],
        "Purchase order\nNumber 40 418 819\nTotal 31.10 euros",
        OTHER_PAGE[1],
    ]
    assert page.state is PageState.MIXED


def test_codes_of_the_text_layer_are_kept_if_the_picture_shows_them(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    codes = ("krrbtx grnd wlkst pfflng strnd brtschk", "zwlltr mnstk krrbtx grnd wlkst strnd") * 2
    picture = picture_of(make(tmp_path / "source.pdf", lines(*codes)))
    page = read(with_layer(picture, tmp_path / "scan.pdf", codes), 0, "auto").page
    assert page.text.split() == " ".join(codes).split()
    assert (page.state, page.reason) == (PageState.TEXT, "")


@pytest.mark.parametrize(
    ("message", "reason"),
    [("Traceback:\n  File x\nInvalid picture\n", "Invalid picture"), ("std::bad_alloc", "more memory")],
)
def test_failing_recognition_fails_the_page(
    scan: Path, monkeypatch: pytest.MonkeyPatch, message: str, reason: str
) -> None:
    monkeypatch.setattr(ocr, "_load_engine", raising(ValueError(message)))
    page = read(scan, 0, "auto").page
    assert page.state is PageState.FAILED
    assert reason in page.reason
    assert "Traceback" not in page.reason
    stamped = read(scan, 1, "auto").page
    assert stamped.state is PageState.TEXT
    assert reason in stamped.reason


def test_missing_or_disabled_recognition_gives_an_empty_page(scan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "_load_engine", raising(ocr.OcrMissingError()))
    page = read(scan, 0, "auto").page
    assert page.state is PageState.EMPTY
    assert "rapidocr" in page.reason
    assert read(scan, 0, "off").page.state is PageState.EMPTY


def test_ruled_line_alone_is_no_text(tmp_path: Path) -> None:
    def rule(canvas: Canvas) -> None:
        canvas.rect(18, 800, 560, 1, stroke=0, fill=1)

    def shapes(canvas: Canvas) -> None:
        rule(canvas)
        canvas.line(72, 700, 72, 712)

    drawn = []
    with closing(PdfiumDocument(make(tmp_path / "a.pdf", lambda canvas: None, rule, shapes))) as document:
        for index in range(3):
            with document.open_page(index) as reader:
                drawn.append(reader.has_visible_content())
    assert drawn == [False, False, True]
