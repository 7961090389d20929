"""Help texts for the fields in which a reader enters instructions for answers."""

from pages.shared.translation import N_

PLACEHOLDER = N_("Answer in at most two sentences. Use plain words.")
SCOPE_OF_INSTRUCTIONS = N_(
    "They concern language, length and tone. Answers are cited, checked and refused as before, but an answer in "
    "another language than the documents cannot be checked, and says so."
)
