"""Words about the instructions for answers, for the pages where a reader enters them."""

from pages.shared.translation import N_

PLACEHOLDER = N_("Answer in at most two sentences. Use plain words.")
SCOPE_OF_INSTRUCTIONS = N_(
    "They concern language, length and tone. Answers are cited, checked and refused as before, but an answer in "
    "another language than the documents cannot be checked, and says so."
)
