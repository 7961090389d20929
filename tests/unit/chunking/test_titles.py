"""What a document is about is told by its first page where its file's name does not say it."""

from __future__ import annotations

import pytest

from rag_core.chunking.document_titles import COVER_CHARACTERS, LONGEST, extract_title, format_document_label
from rag_core.types import Page, PageState
from rag_core.types.chunks import document_label

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
    ("name", "told"),
    [
        ("scan-07.pdf", "Bexley Mills, Inc. BXM Form 10-K June 30, 2021"),
        ("BEXLEYMILLS_2021_10K.pdf", "BXM"),
        ("Bexley Mills.pdf", "BXM Form 10-K June 30, 2021"),
        ("bxm-10-k-2021.pdf", "Bexley Mills, Inc."),
        ("BXM Bexley Mills 10-K 2021.pdf", ""),
    ],
)
def test_a_filing_says_whose_it_is_and_of_when_as_far_as_its_name_does_not(name: str, told: str) -> None:
    assert extract_title(name, first(COVER, "SECURITIES AND EXCHANGE COMMISSION")) == told


def test_the_period_is_preferred_to_other_dates_and_a_report_of_an_event_has_its_own() -> None:
    cover = "FORM 8-K\nDate of report: May 4, 2020\nAcme Corp\n(Exact name of registrant as specified in its charter)"
    assert extract_title("a.pdf", first(cover)) == "Acme Corp Form 8-K May 4, 2020"
    assert (
        extract_title("a.pdf", first(f"{cover}\nFor the year ended April 30, 2019"))
        == "Acme Corp Form 8-K April 30, 2019"
    )


@pytest.mark.parametrize(
    ("above", "told"),
    [
        ("BEXLEY\nMILLS, INC.", "MILLS, INC."),
        ("BEXLEY MILLS\nINC.", "BEXLEY MILLS INC."),
        ("Commission file number 7\nThe Bexley Company", "The Bexley Company"),
        ("Inc.", ""),
    ],
)
def test_a_company_is_named_by_the_line_above_and_how_it_is_incorporated_is_no_name(above: str, told: str) -> None:
    cover = f"Washington, D.C. 20549\n\n{above}\n\n(Exact name of registrant as specified in its charter)"
    assert extract_title("scan.pdf", first(cover)) == told


def test_a_symbol_is_told_by_other_documents_as_well() -> None:
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
def test_what_stands_before_an_exchange_is_not_always_a_symbol(line: str, symbol: str) -> None:
    assert extract_title("a.pdf", first(line)) == symbol


@pytest.mark.parametrize(
    ("name", "heading", "told"),
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
def test_another_document_has_its_first_heading_unless_its_name_says_it(name: str, heading: str, told: str) -> None:
    assert extract_title(name, first("Some text.", heading)) == told


def test_a_name_on_a_later_part_of_the_page_is_none_of_its_own() -> None:
    assert extract_title("a.pdf", first(f"{'x' * COVER_CHARACTERS}\n{COVER}")) == ""


def test_a_title_has_a_greatest_length_and_no_page_has_none() -> None:
    assert len(extract_title("a.pdf", first("", "many words of one long heading " * 20))) <= LONGEST
    assert extract_title("a.pdf", None) == ""


def test_the_label_has_the_title_once() -> None:
    assert format_document_label("scan_07.pdf", "Lease", "") == "scan 07 · Lease"
    assert format_document_label("scan_07.pdf", "Lease", "Lease › Rent") == "scan 07"
    assert format_document_label("scan_07.pdf", "", "Rent") == "scan 07"


def test_the_document_is_told_from_a_prefix() -> None:
    assert document_label("scan 07 · Lease › Rent › Deposits\n2022 2021") == "scan 07 · Lease"
    assert document_label("scan 07\n2022 › 2021") == "scan 07"
