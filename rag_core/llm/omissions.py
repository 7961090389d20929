"""Say which passages, or which parts of them, a prompt does not contain."""

from __future__ import annotations

from collections.abc import Iterator

from rag_core.llm.context_budget import FittedContext
from rag_core.text.injection import LEFT_OUT, contains_instructions


def describe_omissions(fitted: FittedContext, given: int, setting: str) -> Iterator[str]:
    """Yield notices about a prompt for ``given`` passages; ``setting`` is the context length with its name."""
    if fitted.left_out:
        listed = ", ".join(f"[{rank}]" for rank in fitted.left_out)
        yield f"{len(fitted.left_out)} of {given} passages did not fit into {setting} and were not used: {listed}."
    if fitted.shortened:
        yield f"Only the beginning of passage [{fitted.passages[0].rank}] fitted into {setting}; the rest was not used."
    withheld = [f"[{one.rank}]" for one in fitted.passages if LEFT_OUT in one.text or contains_instructions(one.text)]
    if withheld:
        yield (
            f"Sentences that read like instructions to a model were not sent to it: in {', '.join(withheld)}. "
            "Open the passage to read them."
        )
