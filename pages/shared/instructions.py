"""Words about the instructions for answers, for the pages where a reader enters them."""

PLACEHOLDER = "Answer in at most two sentences. Use plain words."
SCOPE_OF_INSTRUCTIONS = (
    "They concern language, length and tone. Answers are cited, checked and refused as without instructions. Sentences "
    "in another language than the documents are often marked “not found”, because they are compared word by word."
)
