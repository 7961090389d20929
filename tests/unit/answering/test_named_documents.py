"""Names of documents in questions."""

from __future__ import annotations

import pytest

from rag_core.text.names import contains_document_name


@pytest.mark.parametrize(
    ("text", "name", "contains"),
    [
        ("OAK-STREET.pdf", "Oak Street", True),
        ("lease_oakstreet_2021.pdf", "Oak Street", True),
        ("oak_street_lease.pdf", "Oakstreet", True),
        ("cambridge_lease.pdf", "Bridge", False),
        ("savanna.pdf", "Anna", False),
        ("lease.pdf", "Oak Street", False),
        ("AnnualReportAcme2023.pdf", "Acme", True),
        ("LeaseOakStreet.pdf", "Oak Street", True),
        ("FY2023Boeing10K.pdf", "Boeing", True),
        ("BESTBUY_2019_10K.pdf", "Best Buy", True),
    ],
)
def test_name_begins_at_a_word(text: str, name: str, contains: bool) -> None:
    assert contains_document_name(text, name) is contains
