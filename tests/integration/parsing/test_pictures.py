"""Pages as pictures: highlights drawn in, and text recognised where there is none."""

from __future__ import annotations

import io
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from rag_core.errors import DamagedPdf, EncryptedPdf, ExtractionFailed
from rag_core.parsing.highlights import draw_highlights
from rag_core.parsing.pdf.document import PdfiumDocument
from rag_core.parsing.rendering import PageRenderer
from rag_core.types import PageState
from tests.support.drawn_pdfs import PROSE, encrypted, lines, make, read


@pytest.fixture(scope="module")
def renderer():
    with closing(PageRenderer(timeout_s=20)) as renderer:
        yield renderer


def test_highlights_tint_the_page_and_leave_letters_black(renderer: PageRenderer, tmp_path: Path) -> None:
    path = make(tmp_path / "a.pdf", lines(*PROSE))
    page = read(path).page
    plain = renderer.render(path, 0, scale=2.0)
    marked = renderer.render(path, 0, rects=page.boxes.within(0, 11), scale=2.0)
    assert (plain.highlighted, marked.highlighted) == (0, 2)
    assert (marked.width, marked.height) == (round(page.width * 2), round(page.height * 2))
    before, after = (np.asarray(Image.open(io.BytesIO(image.png)).convert("RGB")) for image in (plain, marked))
    changed = (before != after).any(axis=2)
    rows, columns = np.nonzero(changed)
    x0, y0, x1, y1 = page.boxes.within(0, 11).reshape(2, 4).T
    assert columns.min() >= x0.min() * marked.width - 3
    assert columns.max() <= x1.max() * marked.width + 3
    assert rows.min() >= y0.min() * marked.height - 3
    assert rows.max() <= y1.max() * marked.height + 3
    assert after[changed].min() < 40


def test_the_blank_between_neighbours_is_tinted_and_no_other() -> None:
    words = np.array(
        [[0.1, 0.1, 0.3, 0.2], [0.32, 0.1, 0.5, 0.2], [0.8, 0.1, 0.9, 0.2], [0.1, 0.3, 0.3, 0.4]], np.float32
    )
    png, count = draw_highlights(Image.new("RGB", (200, 200), "white"), words)
    image = Image.open(io.BytesIO(png)).convert("RGB")
    tinted = [image.getpixel(spot) != (255, 255, 255) for spot in ((62, 30), (130, 30), (62, 50), (40, 70))]
    assert (count, tinted) == (4, [True, False, False, True])


def test_a_file_that_changes_is_opened_again(renderer: PageRenderer, tmp_path: Path) -> None:
    path = make(tmp_path / "a.pdf", lines("short"))
    first = renderer.render(path, 0)
    make(path, lines(*PROSE))
    assert renderer.render(path, 0).png != first.png


def test_errors_name_the_file(renderer: PageRenderer, tmp_path: Path) -> None:
    with pytest.raises(EncryptedPdf, match=r"locked\.pdf"):
        renderer.render(encrypted(tmp_path / "locked.pdf", "secret"), 0)
    assert renderer.render(tmp_path / "locked.pdf", 0, password="secret").width > 0
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    with pytest.raises(DamagedPdf, match=r"bad\.pdf"):
        renderer.render(tmp_path / "bad.pdf", 0)
    with pytest.raises((DamagedPdf, ExtractionFailed), match=r"a\.pdf"):
        renderer.render(make(tmp_path / "a.pdf", lines("x")), 99)


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scan")
    document = PdfiumDocument(make(folder / "source.pdf", lines("Minutes of the meeting", "", *PROSE)))
    with document.open_page(0) as reader:
        picture = reader.picture(2.5)
    document.close()

    def image(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(picture), 0, 0, 595, 842)

    def stamped(canvas: Canvas) -> None:
        image(canvas)
        canvas.drawString(72, 60, "Received 4 May 2021")

    return make(folder / "scan.pdf", image, stamped)


def test_scanned_page(scan: Path) -> None:
    pytest.importorskip("rapidocr")
    page = read(scan, 0, "auto").page
    assert page.state is PageState.OCR
    assert page.confidence is not None
    assert 0.8 < page.confidence <= 1
    expected = " ".join(("Minutes of the meeting", *PROSE)).split()
    assert len(set(expected) & set(page.text.split())) >= 0.8 * len(set(expected))
    assert "Minutes" in page.text
    start = page.text.index("Minutes")
    x0, y0, x1, y1 = page.boxes.within(start, start + 7)[0]
    assert x0 == pytest.approx(72 / 595, abs=0.03)
    assert y0 < 1 - 752 / 842 < y1 + 0.02
    assert x1 > x0
    assert all(page.text[start:end].strip() for start, end in zip(page.boxes.starts, page.boxes.ends, strict=True))


LOTS = ("Lot 68 was sold for 1,896 pounds on 9 May 1966.", "Lot 86 was kept, since nobody bid 9,861 pounds for it.")


@pytest.mark.parametrize("angle", [90, 180, 270, 2, -1.5])
def test_a_scan_is_read_whichever_way_it_lies(tmp_path: Path, angle: float) -> None:
    pytest.importorskip("rapidocr")
    source = make(tmp_path / "source.pdf", lines("Minutes of the meeting", "", *PROSE, "", *LOTS))
    document = PdfiumDocument(source)
    with document.open_page(0) as reader:
        picture = reader.picture(2.5).rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor="white")
    document.close()
    picture.save(tmp_path / "scan.pdf", resolution=180)
    page = read(tmp_path / "scan.pdf", 0, "auto").page
    assert page.text.split() == " ".join(("Minutes of the meeting", *PROSE, *LOTS)).split()
    assert (page.state, page.reason) == (PageState.OCR, "")
    for word in ("Minutes", "founder", "1966"):
        start = page.text.index(word)
        straight = read(source).page
        x0, y0, x1, y1 = straight.boxes.within(straight.text.index(word), straight.text.index(word) + len(word))[0]
        across, down = ((x0 + x1) / 2 - 0.5) * 595, ((y0 + y1) / 2 - 0.5) * 842
        turn = np.radians(angle)
        expected = (
            0.5 + (across * np.cos(turn) + down * np.sin(turn)) / page.width,
            0.5 + (down * np.cos(turn) - across * np.sin(turn)) / page.height,
        )
        x0, y0, x1, y1 = page.boxes.within(start, start + len(word))[0]
        assert ((x0 + x1) / 2, (y0 + y1) / 2) == pytest.approx(expected, abs=0.02)


def test_lines_that_cannot_be_read_are_left_out_and_told(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    document = PdfiumDocument(make(tmp_path / "source.pdf", lines(*PROSE)))
    with document.open_page(0) as reader:
        picture = reader.picture(2.5)
    document.close()
    # The second line, as it shows through from the other side of the paper.
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


def test_recognition_can_be_off(scan: Path) -> None:
    assert read(scan, 0, "off").page.state is PageState.EMPTY


@pytest.mark.parametrize(
    ("message", "says"),
    [("Traceback:\n  File x\nInvalid picture\n", "Invalid picture"), ("std::bad_alloc", "more memory")],
)
def test_failing_recogniser_fails_the_page(
    scan: Path, monkeypatch: pytest.MonkeyPatch, message: str, says: str
) -> None:
    from rag_core.parsing import ocr

    def fails() -> None:
        raise ValueError(message)

    monkeypatch.setattr(ocr, "_load_engine", fails)
    page = read(scan, 0, "auto").page
    assert page.state is PageState.FAILED
    assert says in page.reason
    assert "Traceback" not in page.reason
    stamped = read(scan, 1, "auto").page
    assert stamped.state is PageState.TEXT
    assert says in stamped.reason


def test_missing_recogniser_is_said(scan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rag_core.parsing import ocr

    def missing() -> None:
        raise ocr.OcrMissingError

    monkeypatch.setattr(ocr, "_load_engine", missing)
    page = read(scan, 0, "auto").page
    assert page.state is PageState.EMPTY
    assert "rapidocr" in page.reason


def test_a_rule_alone_could_be_no_letters(tmp_path: Path) -> None:
    def rule(canvas: Canvas) -> None:
        canvas.rect(18, 800, 560, 1, stroke=0, fill=1)

    def shapes(canvas: Canvas) -> None:
        rule(canvas)
        canvas.line(72, 700, 72, 712)

    document = PdfiumDocument(make(tmp_path / "a.pdf", lambda canvas: None, rule, shapes))
    drawn = []
    for index in range(3):
        with document.open_page(index) as reader:
            drawn.append(reader.draws())
    document.close()
    assert drawn == [False, False, True]
