"""Headers of printed mails, and the mails that they begin."""

from __future__ import annotations

import pytest

from rag_core.text.mails import find_header, find_mails

NOTE = "From: Ada Holm <ada@example.org>\nTo: Bo Krag\nSent: 2 March 2020 08:30\nSubject: Kiln\n\nThe kiln is cold."
REPLY = "On 1 March 2020, Bo Krag <bo@example.org> wrote:"


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        (NOTE, ["From: Ada Holm, Sent: 2 March 2020 08:30"]),
        ("Von: Ada Holm\nGesendet: 2. März 2020\nAn: Bo\nBetreff: Ofen", ["Von: Ada Holm, Gesendet: 2. März 2020"]),
        ("De : Ada Holm\nEnvoyé : 2 mars 2020\nÀ : Bo\nObjet : Four", ["De: Ada Holm, Envoyé: 2 mars 2020"]),
        ("De: Ada Holm\nFecha: 2 de marzo\nPara: Bo\nAsunto: Horno", ["De: Ada Holm, Fecha: 2 de marzo"]),
        ("From:\nAda Holm\nDate:\n2 March 2020\nSubject:\nKiln\n\nIt leaks.", ["From: Ada Holm, Date: 2 March 2020"]),
        ("Ada Holm <ada@example.org>  Mon, Mar 2, 2020\nTo: Bo\n\nHello", ["Ada Holm Mon, Mar 2, 2020"]),
        (
            f"{NOTE}\n\n{REPLY}\n\nIs it warm?",
            ["From: Ada Holm, Sent: 2 March 2020 08:30", REPLY[:16] + " Bo Krag wrote"],
        ),
        ("From: Oslo\nTo: Bergen\nThe ferry leaves at noon.", []),
        ("From: Oslo\nTo: Bergen\nDate: 2 March 2020\nPurpose: Fair", []),
        ("Invoice\nDate: 2 March 2020\nFrom: Holm Kilns Ltd\nTo: Krag Tiles\nTotal: 340 crowns", []),
        ("De : Lyon\nÀ : Nantes\nDate : 2 mars 2020\nMotif : salon", []),
        ("Date: 2 March 2020\nSubject: Kiln\n\nMinutes of the guild.", []),
        ("On 3 May he wrote the following in his diary: all is well.", []),
    ],
)
def test_headers_say_who_wrote_when(text: str, headings: list[str]) -> None:
    assert [mail.heading for mail in find_mails(text)] == headings


def test_reply_below_a_quotation_is_of_the_outer_mail() -> None:
    text = f"{NOTE}\n\n{REPLY}\n\n> Is it warm?\n\n> And dry?\n\nNeither of the two.\n\nAda"
    assert [mail.heading[:4] for mail in find_mails(text)] == ["From", "On 1", "From"]
    (start, end) = find_header(text, text.index("Neither")) or (0, 0)
    assert text[start:end].startswith("From: Ada Holm")
    (start, end) = find_header(text, text.index("And dry")) or (0, 0)
    assert text[start:end] == REPLY
