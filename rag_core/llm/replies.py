"""What a model replies that is asked for lines alone."""

from __future__ import annotations

import re

# "Here are the queries:", and the fences of a block of code.
_ANNOUNCES = re.compile(r":\W*$|^\s*```")


def told_lines(reply: str) -> list[str]:
    """The lines of a reply without those that only announce others, or mark them as code."""
    return [line for line in reply.splitlines() if not _ANNOUNCES.search(line)]
