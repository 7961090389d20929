"""An image file in a worker process, which is converted to a temporary PDF with one page, or a page per TIFF frame."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rag_core.parsing.formats.base import UnpackedSizeError, UnreadableError
from rag_core.parsing.pdf.file import PdfFile

# The longer side of a page in points if the picture has no plausible resolution.
_USUAL_SIDE = 842.0
# Plausible lengths of the sides of a page in points.
_MIN_SIDE = 72.0
_MAX_SIDE = 3000.0
_MAX_PIXELS = 150_000_000


class ImageFile(PdfFile):
    """An image file, read as a temporary PDF with a page for each frame from `iter_frames`; see `OpenFile`."""

    def __init__(self, path: Path) -> None:
        self._folder = TemporaryDirectory(prefix="footnote-picture-", ignore_cleanup_errors=True)
        converted = Path(self._folder.name) / "picture.pdf"
        try:
            _convert_to_pdf(path, converted)
            super().__init__(converted, None, None)
        except BaseException:
            self._folder.cleanup()
            raise

    def close(self) -> None:
        super().close()
        self._folder.cleanup()


def _convert_to_pdf(path: Path, target: Path) -> None:
    """Write an image file to ``target`` as a PDF with a page for each frame.

    Raises
    ------
    UnreadableError, UnpackedSizeError
    """
    from PIL import Image, UnidentifiedImageError
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    _register_heic()
    Image.MAX_IMAGE_PIXELS = _MAX_PIXELS
    canvas = Canvas(str(target), invariant=1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as image:
                for frame in iter_frames(image):
                    width, height = _choose_page_size(frame)
                    canvas.setPageSize((width, height))
                    canvas.drawImage(ImageReader(frame), 0, 0, width, height)
                    canvas.showPage()
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        raise UnpackedSizeError(f"has more than {_MAX_PIXELS / 1e6:,.0f} million pixels, which are not read") from None
    except UnidentifiedImageError:
        raise UnreadableError("it is no picture that can be read") from None
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise UnreadableError(f"the picture is damaged: {error}") from None
    canvas.save()


def _register_heic() -> None:
    try:
        import pi_heif
    except ImportError:  # there is no wheel for this platform
        return
    pi_heif.register_heif_opener()


def iter_frames(image: Any) -> Iterator[Any]:
    """Yield the frames of a TIFF image, or the first frame of any other image, upright and in RGB on white."""
    from PIL import Image, ImageOps, ImageSequence

    # The frames of an animation are not pages.
    frames = ImageSequence.Iterator(image) if image.format == "TIFF" else [image]
    for frame in frames:
        dpi = frame.info.get("dpi")
        upright = ImageOps.exif_transpose(frame)
        if upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info:
            layer = upright.convert("RGBA")
            upright = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
        if upright.mode.startswith("I;16") or upright.mode == "I":
            upright = upright.point(lambda value: value / 256).convert("L")
        plain = upright.convert("RGB")
        plain.info = {"dpi": dpi} if dpi else {}
        yield plain


def _choose_page_size(image: Any) -> tuple[float, float]:
    """Return the width and the height in points of the page for a picture.

    If the picture has no resolution, or its resolution gives an implausible size, the longer side is ``_USUAL_SIDE``.
    """
    across, down = (float(resolution or 0) for resolution in image.info.get("dpi") or (0, 0))
    if across > 1 and down > 1:
        width, height = 72 * image.width / across, 72 * image.height / down
        if min(width, height) >= _MIN_SIDE and max(width, height) <= _MAX_SIDE:
            return width, height
    scale = _USUAL_SIDE / max(image.width, image.height)
    return image.width * scale, image.height * scale
