"""The Evaluate page: measure search, answers and refusals on labelled questions."""

from __future__ import annotations

from pages.evaluate.choosing import choose_configurations, choose_labels
from pages.evaluate.methods import show_methods
from pages.evaluate.results import show_results
from pages.evaluate.running import show_progress, show_run_button
from pages.evaluate.training import show_training
from pages.shared.start import start_page
from pages.shared.translation import _

back = start_page("evaluate", _("Evaluate"))
name, labels = choose_labels(back.engine)
show_run_button(back.engine, name, labels, choose_configurations(back.engine))
show_progress(back.engine)
show_methods(back.engine)
show_results(back.engine)
show_training(back.engine, name, labels)
