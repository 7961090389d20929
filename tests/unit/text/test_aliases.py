"""Names that stand for one thing in a document."""

from __future__ import annotations

import pytest

from rag_core.text.aliases import find_aliases

LEASE = (
    "between Grundstücke Sommer & Töchter KG, Am Deich 4, 26721 Emden\n– nachfolgend „Vermieterin“ –\nand "
    'Orrin Kayaks Ltd\n(company number 0711) ("the Customer"). The Customer pays the Vermieterin on the first of May.'
)
FILING = (
    "Pellworth Foods, Inc. (NYSE: PLWF) opened. Kestrel Mills Corporation (also called “Kestrel,” or the “Seller”) "
    "closed, since the Seller had no grain. The Harbour Dredging Board (HDB) met. “Plant” means Oakley Works."
)


@pytest.mark.parametrize(
    ("text", "name", "sentence", "is_mentioned"),
    [
        (LEASE, "Grundstücke Sommer & Töchter KG", "Die Vermieterin kündigt.", True),
        (LEASE, "Sommer", "Die Vermieterin kündigt.", True),
        (LEASE, "Customer", "Orrin Kayaks Ltd left.", True),
        (LEASE, "Customer", "The Vermieterin left.", False),
        (FILING, "PLWF", "Pellworth Foods, Inc. opened.", True),
        (FILING, "Kestrel", "The Seller had no grain.", True),
        (FILING, "Kestrel", "The Plant had no grain.", False),
        (FILING, "Harbour Dredging Board", "The HDB met.", True),
        # The title names the author.
        (FILING, "Marlow", "We have no grain.", True),
        (FILING, "Marlow", "They have no grain.", False),
        (FILING, "Kestrel Mills", "We have no grain.", False),
        # A quotation is no definition.
        ('Mr Smith said the plan ("a mess") failed; it was a mess.', "Smith", "It was a mess.", False),
    ],
)
def test_names_of_one_thing(text: str, name: str, sentence: str, is_mentioned: bool) -> None:
    assert find_aliases(text, "MARLOW_2031.pdf Annual report").mentions(name, sentence) is is_mentioned
