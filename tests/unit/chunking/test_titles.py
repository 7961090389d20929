"""Titles of documents from their first pages."""

from __future__ import annotations

import pytest

from rag_core.chunking.document_titles import (
    MAX_TITLE_CHARACTERS,
    TITLE_CHARACTERS,
    extract_title,
    format_document_label,
)
from rag_core.types.chunks import extract_document_label
from rag_core.types.documents import Page, PageState

COVER = """UNITED STATES
SECURITIES AND EXCHANGE COMMISSION

FORM 10-K

For the fiscal year ended June 30, 2021
Commission file number 1-1183

Bexley Mills, Inc.

(Exact Name of Registrant as Specified in its Charter)

Securities registered pursuant to Section 12(b) of the Act:
Common Stock, $0.10 par value BXM The New York Stock Exchange
"""


def first(text: str, heading: str = "") -> Page:
    return Page(0, "1", text, PageState.TEXT, heading=heading)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("scan-07.pdf", "Bexley Mills, Inc. BXM Form 10-K June 30, 2021"),
        ("BEXLEYMILLS_2021_10K.pdf", "BXM"),
        ("Bexley Mills.pdf", "BXM Form 10-K June 30, 2021"),
        ("bxm-10-k-2021.pdf", "Bexley Mills, Inc."),
        ("BXM Bexley Mills 10-K 2021.pdf", ""),
    ],
)
def test_title_of_a_filing_adds_what_its_name_lacks(name: str, title: str) -> None:
    assert extract_title(name, first(COVER, "SECURITIES AND EXCHANGE COMMISSION")) == title


@pytest.mark.parametrize(
    ("line", "date"), [("", "May 4, 2020"), ("\nFor the year ended April 30, 2019", "April 30, 2019")]
)
def test_period_is_preferred_to_date_of_report(line: str, date: str) -> None:
    cover = "FORM 8-K\nDate of report: May 4, 2020\nAcme Corp\n(Exact name of registrant as specified in its charter)"
    assert extract_title("a.pdf", first(f"{cover}{line}")) == f"Acme Corp Form 8-K {date}"


@pytest.mark.parametrize(
    ("above", "title"),
    [
        ("BEXLEY\nMILLS, INC.", "MILLS, INC."),
        ("BEXLEY MILLS\nINC.", "BEXLEY MILLS INC."),
        ("Commission file number 7\nThe Bexley Company", "The Bexley Company"),
        ("Inc.", ""),
    ],
)
def test_company_name_is_the_line_above(above: str, title: str) -> None:
    cover = f"Washington, D.C. 20549\n\n{above}\n\n(Exact name of registrant as specified in its charter)"
    assert extract_title("scan.pdf", first(cover)) == title


def test_symbol_is_found_in_other_documents() -> None:
    release = first("BOLINGBROOK -- Bexley Mills (NASDAQ: BXM) today announced", "Bexley Mills Announces Results")
    assert extract_title("q3.pdf", release) == "Bexley Mills Announces Results BXM"


@pytest.mark.parametrize(
    ("line", "symbol"),
    [
        ("Class A New York Stock Exchange", ""),
        ("COMMON STOCK, PAR VALUE $.01 PER SHARE NASDAQ", ""),
        ("LISTED ON THE NASDAQ STOCK MARKET\nOrdinary Shares BXM Nasdaq Global Select Market", "BXM"),
        ("(NYSE American: BX)", "BX"),
        ("it is traded on NASDAQ", ""),
    ],
)
def test_symbol_before_an_exchange(line: str, symbol: str) -> None:
    assert extract_title("a.pdf", first(line)) == symbol


@pytest.mark.parametrize(
    ("name", "heading", "title"),
    [
        ("scan-07.pdf", "Master Services Agreement", "Master Services Agreement"),
        ("scan-07.pdf", "Master Services Agreement › 1 Definitions", "Master Services Agreement"),
        ("master_services_agreement_v2.pdf", "Master Services Agreement", ""),
        ("services-agreement.pdf", "Master Services Agreement", ""),
        ("scan-07.pdf", "Table of Contents", ""),
        ("scan-07.pdf", "Introduction", ""),
        ("scan-07.pdf", "12 34", ""),
        ("scan-07.pdf", "", ""),
        ("scan7.pdf", "Chapter 1 › Building of Bridges", "Building of Bridges"),
    ],
)
def test_title_is_first_heading_missing_from_the_name(name: str, heading: str, title: str) -> None:
    assert extract_title(name, first("Some text.", heading)) == title


def test_only_the_beginning_of_the_first_page_gives_a_title() -> None:
    assert extract_title("a.pdf", first(f"{'x' * TITLE_CHARACTERS}\n{COVER}")) == ""
    assert extract_title("a.pdf", None) == ""


def test_title_has_a_maximum_length() -> None:
    assert len(extract_title("a.pdf", first("", "many words of one long heading " * 20))) <= MAX_TITLE_CHARACTERS


@pytest.mark.parametrize(
    ("title", "heading", "label"),
    [("Lease", "", "scan 07 · Lease"), ("Lease", "Lease › Rent", "scan 07"), ("", "Rent", "scan 07")],
)
def test_label_has_the_title_unless_the_heading_has_it(title: str, heading: str, label: str) -> None:
    assert format_document_label("scan_07.pdf", title, heading) == label


def test_document_label_is_extracted_from_prefix() -> None:
    assert extract_document_label("scan 07 · Lease › Rent › Deposits\n2022 2021") == "scan 07 · Lease"
    assert extract_document_label("scan 07\n2022 › 2021") == "scan 07"
