"""Documents and conversations of the servers that the browser tests share."""

from __future__ import annotations

from pathlib import Path

from rag_core.engine import Engine
from rag_core.settings import Settings
from rag_core.types.answers import Answer, AnswerState, Citation, Claim
from rag_core.types.retrieval import Gate, Passage
from tests.support.app import BRIDGE
from tests.support.attacks import INSTRUCTIONS, RENDERED
from tests.support.pdfs import make_pdf

CANAL_QUESTION = "How long is the Tornea canal?"
TOWER_QUESTION = "How tall is the Vardo tower?"
TOWER = make_pdf(
    "The town of Vardo lies on an island. Its harbour is free of ice in winter.",
    "The Vardo tower is 88 metres tall. Lena Holm drew it. Lena Holm lived in Bergen until 1920.",
    "Boats leave for the mainland every hour.",
)
# The documents of the server without a language model, and of that with one.
QUOTED = {
    "canal.pdf": make_pdf(
        "The Tornea canal was dug by hand. Work on it began in the spring of 1811.",
        "The Tornea canal is 64 kilometres long. It has nineteen locks.",
    ),
    "bridge.pdf": BRIDGE,
    "tower.pdf": TOWER,
    "lighthouse.pdf": make_pdf(
        "The Brennick lighthouse stands on a rock of red sandstone. Its lamp was lit for the first time in 1874.",
        "The Brennick lighthouse museum had 18,240 visitors last year.",
    ),
    "lights.pdf": make_pdf(
        "The light of Kvalnes shows two white flashes every ten seconds. Its keeper was Oda Brekke.",
        "The light of Sandvika shows one red flash every six seconds. Its keeper was Ivar Dahl.",
        "The light of Torvik shows a green flash every four seconds. Its keeper was Runa Moe.",
    ),
}
FACT = "The Kemi dam is 71 metres high"
WRITTEN = {
    "tower.pdf": make_pdf("The Vardo tower is 88 metres tall and was finished in 1902 by the architect Lena Holm."),
    "canal.pdf": make_pdf("The Lindow Canal was dug between 1803 and 1811. It is 31 kilometres long."),
    "tornea.pdf": make_pdf("The Tornea canal is 64 kilometres long. It has nineteen locks and was dug by hand."),
    "dam.pdf": make_pdf(f"{FACT}. {INSTRUCTIONS['plain']}"),
}
# One answer contains all cases, since one page load per case would take minutes.
EVERYTHING = "\n\n".join(f"{name}: {text}" for name, text in RENDERED.items())


def store_hostile_conversations(folder: Path) -> dict[str, str]:
    """Store a hostile answer by each kind of generator; return the ids of the conversations by generator."""
    with Engine(Settings(data_dir=folder, _env_file=None)) as engine:
        conversations = {}
        for generator in ("openai:hostile", "extractive"):
            conversation_id = engine.conversations.create().conversation_id
            engine.conversations.add_message(conversation_id, "user", f"How high is the Kemi dam? {EVERYTHING}")
            engine.conversations.add_message(conversation_id, "assistant", "", _build_hostile_answer(generator))
            conversations[generator] = conversation_id
        return conversations


def _build_hostile_answer(generator: str) -> Answer:
    text = f"{FACT} [1]. {EVERYTHING}"
    source = "\n\n".join([FACT, *INSTRUCTIONS.values(), *RENDERED.values()])
    passage = Passage(1, "1", "d", "v", "a.pdf", 0, "1", 0, 0, len(source), source, "", {"rerank": 0.9}, True)
    return Answer(
        question="How high is the Kemi dam?",
        state=AnswerState.ANSWERED,
        text=text,
        citations=(Citation.of(passage, 0, len(FACT)),),
        passages=(passage,),
        gate=Gate("rerank", 0.9, 0.5, True),
        generator=generator,
        timings_ms={"total": 1.0},
        notices=(EVERYTHING,),
        statements=(
            Claim(0, len(FACT), True),
            Claim(len(FACT) + 6, len(text), False, mark="contradicted", source_value=RENDERED["img"], compared_rank=1),
        ),
    )
