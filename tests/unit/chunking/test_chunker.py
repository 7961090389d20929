"""Examples of chunks; general properties are in tests/property."""

from __future__ import annotations

import itertools

import pytest

from rag_core.chunking.chunker import DOCUMENT_TOKENS, ChunkConfig, Chunker
from rag_core.embedding.embedder import Embedder
from rag_core.errors import SettingsError
from rag_core.types.chunks import PAGE_BREAK, ChunkSpan
from rag_core.types.documents import Page, PageState
from tests.support.tokenizer import words


def page(text: str, index: int = 0, heading: str = "", skip: tuple[tuple[int, int], ...] = ()) -> Page:
    return Page(index, str(index + 1), text, PageState.TEXT, heading=heading, skip=skip)


def chunk(*pages: Page, tokens: int = 32, overlap: float = 0.0, name: str = "report.pdf") -> list[ChunkSpan]:
    return Chunker(ChunkConfig(tokens, overlap, 256, 2), words).chunk(name, pages)


def sentences(count: int, length: int = 10) -> str:
    return " ".join(f"S{number} {'word ' * (length - 3)}end." for number in range(count))


def test_chunks_end_at_sentences_and_have_similar_length() -> None:
    spans = chunk(page(sentences(8)))
    assert [span.text.count("end.") for span in spans] == [3, 3, 2]
    assert all(span.text.startswith("S") and span.text.endswith("end.") for span in spans)


def test_adjacent_chunks_share_whole_sentences() -> None:
    spans = chunk(page(sentences(12, 8)), overlap=0.3)
    for before, after in itertools.pairwise(spans):
        first = after.text.split()[0]
        assert first in before.text
        assert before.text.endswith(after.text[: before.end - after.start])


def test_short_page_is_one_chunk() -> None:
    (span,) = chunk(page("One sentence. Another one here. Third."))
    assert (span.text, span.start, span.end, span.ordinal) == ("One sentence. Another one here. Third.", 0, 38, 0)
    assert (span.prefix, span.tokens) == ("report", 1 + 9 + 2)
    # Starts of sentences are counted in tokens, after the prefix.
    assert span.sentences == (1, 1 + 3, 1 + 3 + 4)


def test_prefix_has_document_and_heading_within_its_budget() -> None:
    (span,) = chunk(page("Text.", heading="Item 7 › Liquidity"), name="3M_2022_10K.pdf")
    assert (span.prefix, span.heading) == ("3M 2022 10K › Item 7 › Liquidity", "Item 7 › Liquidity")
    (span,) = chunk(page("Text.", heading="word " * 100))
    assert len(words([span.prefix])[0]) == 40


def test_prefix_has_the_title_of_the_first_page() -> None:
    first, second = chunk(page("Text.", heading="Master Lease"), page("Rent.", 1, heading="Rent"), name="a1.pdf")
    assert (first.prefix, second.prefix) == ("a1 › Master Lease", "a1 · Master Lease › Rent")
    (span,) = chunk(page("Text.", heading="Item 7"), name="word " * 50)
    assert span.prefix.endswith("word › Item 7")
    assert len(words([span.prefix])[0]) == DOCUMENT_TOKENS + 3


def test_each_mail_begins_a_chunk_and_gives_its_chunks_their_heading() -> None:
    first = f"From: Ada Holm <a@h.no>\nDate: 2 March 2020\n\n{sentences(4)}"
    second = "From: Bo Krag <b@k.no>\nDate: 1 March 2020\n\nThe kiln is cold."
    spans = chunk(page(f"Letters\n\n{first}\n\n{second}"))
    ada, bo = "From: Ada Holm, Date: 2 March 2020", "From: Bo Krag, Date: 1 March 2020"
    assert [span.heading for span in spans] == [ada, ada, bo]
    assert spans[0].text.startswith("Letters\n\nFrom: Ada Holm <a@h.no>\nDate: 2 March 2020\n\nS0")
    assert spans[2].text == second


def test_running_headers_are_left_out_and_separate_chunks() -> None:
    text = "ACME Corp annual report\nFirst part of it.\nPage 7 of 9\nSecond part of it."
    header, footer = (0, 24), (text.index("Page"), text.index("Second"))
    spans = chunk(page(text, skip=(footer, header)))
    assert [span.text for span in spans] == ["First part of it.", "Second part of it."]
    assert chunk(page(text, skip=((0, len(text)),))) == []


def test_sentence_is_continued_on_the_next_page() -> None:
    first, second = chunk(page("It was said that the bridge"), page("was sold in 1931. Then it fell.", 1))
    assert first.text == f"It was said that the bridge{PAGE_BREAK}was sold in 1931."
    assert (first.page_index, first.page_index_end, first.end) == (0, 1, 17)
    assert second.text == "was sold in 1931. Then it fell."


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ("It was sold.", "was it?"),
        ("It was said that the bridge", "Was sold in 1931."),
        ("It was said that the bridge", ""),
        ("It was said that the bridge", "word " * 100),
        ("It was sold:", "to whom?"),
    ],
)
def test_complete_or_long_sentence_stays_on_its_page(above: str, below: str) -> None:
    assert chunk(page(above), page(below, 1))[0].page_index_end == 0


def test_sentence_does_not_continue_from_a_kept_footer() -> None:
    first, second = "It was said that the bridge\n\nACME Corp, page 1", "was sold in 1931.\n\nACME Corp, page 2"
    kept, _ = chunk(page(first), page(second, 1, skip=((19, len(second)),)))
    assert kept.text == first


def test_long_sentence_is_divided_between_words() -> None:
    spans = chunk(page("; ".join(f"clause {number} binds" for number in range(40))))
    assert len(spans) > 3
    assert all(span.text.endswith((";", "binds")) for span in spans)


def test_long_word_is_divided() -> None:
    text = "-".join("abcdefgh" for _ in range(60))
    spans = chunk(page(text))
    assert "".join(span.text for span in spans) == text


def test_table_rows_are_not_divided() -> None:
    rows = "\n".join(f"Region {number}  1,{number:03d}  2,{number:03d}  {number}.5%" for number in range(20))
    for span in chunk(page(rows)):
        assert span.text.startswith("Region")
        assert span.text.endswith("%")


def test_chunk_size_without_room_for_the_prefix_is_rejected() -> None:
    ChunkConfig(214, 0.2, 256, 2)
    with pytest.raises(SettingsError, match=r"RAG_CHUNK_TOKENS is 215.*256.*214 or less"):
        ChunkConfig(215, 0.2, 256, 2)


def test_page_break_separates_words(embedder: Embedder) -> None:
    joined, spaced = embedder.offsets([f"bridge{PAGE_BREAK}sold", "bridge sold"])
    assert joined.tolist() == spaced.tolist() == [[0, 6], [7, 11]]
