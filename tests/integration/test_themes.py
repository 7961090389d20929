"""Themes over documents: building, updating, removal, answers, and a build that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_core.engine import Engine
from rag_core.errors import SettingsError, UnknownTheme
from rag_core.store.themes import ThemeStore
from rag_core.types.answers import Answer, AnswerState, Stage
from rag_core.types.evaluation import Evaluation, Label, LabelKind
from rag_core.types.jobs import JobState
from rag_core.types.retrieval import RetrievalConfig
from rag_core.types.themes import ModelUse
from tests.support.engines import indexed, open_library, opened, page_text, raising, scripted_engine, wait_until
from tests.support.servers import Play, complete, status
from tests.support.themed import LIBRARY, PEOPLE, RISKS

THEMES = RetrievalConfig(strategy="themes")
ROOT = Path(__file__).parents[2]
GLOBAL = "What are the main risks over these documents?"
# Ends the process without a chance to clean up, as soon as the entities of one document are stored.
KILLED = """
import os, signal, sys
from pathlib import Path
from rag_core.engine import Engine
from rag_core.settings import Settings
from rag_core.store.themes import ThemeStore

save = ThemeStore.save_entities

def save_and_die(self, *args):
    save(self, *args)
    os.kill(os.getpid(), signal.SIGKILL)

ThemeStore.save_entities = save_and_die
engine = Engine(Settings(data_dir=Path(sys.argv[1]), _env_file=None))
engine.jobs.wait([engine.theme_builder.build().job_id])
"""


def build(engine: Engine, model_use: ModelUse = "none") -> JobState:
    return engine.jobs.wait([engine.theme_builder.build(model_use).job_id])[0].state


def titles(engine: Engine) -> str:
    return "\n".join(one.title for one in engine.themes.list())


def texts(engine: Engine) -> str:
    """Return everything that the themes show of the documents."""
    themes = engine.themes.list()
    quoted = [engine.themes.quote(one.key) for theme in themes for one in theme.entities]
    answers = [one.summary for one in themes] + [one for one in quoted if one]
    return "\n".join([*(one.text for one in answers), *(one.name for theme in themes for one in theme.entities)])


def assert_quotes_are_on_their_pages(engine: Engine, answer: Answer) -> None:
    assert answer.citations
    for one in answer.citations:
        assert page_text(engine, one.document_id, one.page_index)[one.start : one.end] == one.quote
        assert f"[{one.marker}]" in answer.text


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with open_library(tmp_path_factory.mktemp("themes") / "data", LIBRARY) as engine:
        assert build(engine) is JobState.DONE
        yield engine


def test_themes_have_cited_summaries_and_a_graph(library: Engine) -> None:
    themes = library.themes.list()
    assert any("Supply chain" in one.title for one in themes), titles(library)
    for theme in themes:
        assert_quotes_are_on_their_pages(library, theme.summary)
        drawing = library.themes.draw(theme)
        assert {one.source for one in drawing.links} <= {one.entity.key for one in drawing.entities}
    assert library.themes.get("1") == themes[0] == library.themes.get(themes[0].theme_id)
    assert library.themes.get("supply CHAIN").documents == 2
    with pytest.raises(UnknownTheme, match="No theme is named 'weather'"):
        library.themes.get("weather")


def test_statements_about_an_entity_are_cited(library: Engine) -> None:
    quoted = library.themes.quote("ida brandt")
    assert quoted is not None
    assert_quotes_are_on_their_pages(library, quoted)
    assert {one.document for one in quoted.citations} == set(LIBRARY)
    assert "Tern Island Council" in {one.name for one, _ in library.themes.neighbours("ida brandt")}
    assert library.themes.quote("unknown") is None


def test_global_question_is_answered_over_all_documents(library: Engine) -> None:
    events = list(library.ask(GLOBAL, configuration=THEMES))
    answer = events[-1]
    assert isinstance(answer, Answer)
    assert (answer.state, answer.strategy, answer.generator) == (AnswerState.ANSWERED, "themes", "extractive")
    assert_quotes_are_on_their_pages(library, answer)
    assert {one.document for one in answer.citations} == set(LIBRARY)
    assert "main risk for the Harrow Works" in answer.text
    assert any("contribute" in step for step in answer.steps)
    started = {one.name for one in events if isinstance(one, Stage) and not one.done}
    assert started <= {one.name for one in events if isinstance(one, Stage) and one.done}


@pytest.mark.parametrize(
    ("question", "state", "text", "step"),
    [
        ("What are the main themes of these documents?", AnswerState.ANSWERED, "Supply chain", "contribute"),
        ("Who leads the Lindow Works?", AnswerState.ANSWERED, "Ida Brandt", "Used the plain search"),
        ("How old is Ida Brandt?", AnswerState.ABSTAINED, "", "Searched around Ida Brandt"),
        ("Which football team won the cup?", AnswerState.ABSTAINED, "", ""),
        ("Who invented the telephone in Boston?", AnswerState.ABSTAINED, "", ""),
    ],
)
def test_question_is_answered_from_themes_or_around_its_names(
    library: Engine, question: str, state: AnswerState, text: str, step: str
) -> None:
    answer = library.answer(question, configuration=THEMES)
    assert answer.state is state
    assert bool(answer.citations) is (state is AnswerState.ANSWERED)
    assert text in answer.text
    assert step in answer.steps[-1]


def test_search_and_answer_keep_to_the_documents(library: Engine) -> None:
    result = library.search("Who leads the Lindow Works?", configuration=THEMES)
    assert (result.passages[0].document, result.gate.answerable) == ("lindow.pdf", True)
    answer = library.answer(GLOBAL, documents=["harrow.pdf"], configuration=THEMES)
    assert {one.document for one in answer.citations} == {"harrow.pdf"}


def test_without_themes_a_plain_search_is_used_and_says_so(tmp_path: Path) -> None:
    with open_library(tmp_path / "data", {"harrow.pdf": LIBRARY["harrow.pdf"]}) as engine:
        answer = engine.answer("Who leads the Harrow Works?", configuration=THEMES)
        assert "Ida Brandt" in answer.text
        assert "No themes have been built" in answer.notices[0]
        found = engine.search("Who leads the Harrow Works?", configuration=THEMES)
        assert found.notices == answer.notices
        assert (found.steps, found.passages[0].document) == (("Used the plain search",), "harrow.pdf")
        assert engine.theme_builder.state().built_at is None
        with pytest.raises(SettingsError, match="none is set"):
            engine.theme_builder.build("summaries")


def test_evaluation_of_themes_is_refused_without_themes(tmp_path: Path) -> None:
    with open_library(tmp_path / "data", {"harrow.pdf": LIBRARY["harrow.pdf"]}) as engine:
        labels = [Label("1", "Who leads the Harrow Works?", LabelKind.ANSWERABLE, answers=("Ida Brandt",))]
        with pytest.raises(SettingsError, match="No themes have been built"):
            engine.evaluations.start(labels, [RetrievalConfig(), THEMES])
        assert engine.evaluations.state() is None
        with pytest.raises(SettingsError, match=r"Build them on the Themes page"):
            next(engine.evaluations.run(labels, THEMES))
        assert build(engine) is JobState.DONE
        *_, evaluation = engine.evaluations.run(labels, THEMES)
        assert isinstance(evaluation, Evaluation)
        assert evaluation.outcomes[0].values["contains_answer"] == 1.0


def test_removed_and_replaced_text_is_not_shown_and_new_documents_are_added(tmp_path: Path) -> None:
    with open_library(tmp_path / "data", LIBRARY) as engine:
        assert build(engine) is JobState.DONE
        assert "Lindow" in texts(engine)
        # Without the update that follows by itself, the removed text must be gone already.
        engine.theme_builder.stop()
        engine.documents.delete(engine.documents.find_ids(["lindow.pdf"]))
        assert engine.theme_builder.state().removed == 1
        assert "Lindow" not in texts(engine)
        answer = engine.answer(GLOBAL, configuration=THEMES)
        assert {one.document for one in answer.citations} == {"harrow.pdf"}
        indexed(engine, "harrow.pdf", RISKS.format("Barrow"), PEOPLE.format("Barrow"))
        assert "Harrow" not in texts(engine)
        answer = engine.answer(GLOBAL, configuration=THEMES)
        assert "Harrow" not in answer.text
        assert "1 document is not part of the themes yet" in answer.notices[0]
    with opened(tmp_path / "data") as engine:
        wait_until(lambda: engine.theme_builder.state().is_current)
        assert "Barrow" in texts(engine)
        indexed(engine, "mora.pdf", RISKS.format("Mora"), PEOPLE.format("Mora"))
        wait_until(lambda: engine.theme_builder.state().documents == 2)
        assert {one.documents for one in engine.themes.list()} == {2}


def test_killed_build_continues_with_the_next_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "data"
    with open_library(folder, LIBRARY):
        pass
    process = subprocess.run([sys.executable, "-c", KILLED, str(folder)], cwd=ROOT, env={**os.environ}, check=False)
    assert process.returncode == -signal.SIGKILL
    read: list[str] = []
    save = ThemeStore.save_entities

    def record(self: ThemeStore, version_id: str, *args: object) -> None:
        read.append(version_id)
        save(self, version_id, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(ThemeStore, "save_entities", record)
    with opened(folder) as engine:
        wait_until(lambda: engine.theme_builder.state().is_current)
        assert len(read) == 1
        assert {one.documents for one in engine.themes.list()} == {2}


def test_cancelled_build_leaves_no_themes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_library(tmp_path / "data", LIBRARY) as engine:
        save = ThemeStore.save_entities

        def save_and_cancel(self: ThemeStore, *args: object) -> None:
            engine.jobs.cancel(engine.jobs.list(active=True)[0].job_id)
            save(self, *args)  # type: ignore[arg-type]

        monkeypatch.setattr(ThemeStore, "save_entities", save_and_cancel)
        assert build(engine) is JobState.CANCELLED
        assert engine.jobs.list(limit=1)[0].reason == "Cancelled; the themes are as they were."
        assert engine.themes.list() == []


def test_unexpected_error_ends_the_job_and_the_next_build_runs(tmp_path: Path) -> None:
    with open_library(tmp_path / "data", LIBRARY) as engine:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ThemeStore, "save_entities", raising(ZeroDivisionError("a bug")))
            assert build(engine) is JobState.FAILED
        assert "internal error" in engine.jobs.list(limit=1)[0].reason
        assert build(engine) is JobState.DONE


def test_model_writes_summaries_whose_statements_are_checked(tmp_path: Path) -> None:
    reply = complete("Ida Brandt leads the Harrow Works. [1]\nIda Brandt agreed on 77 plans. [1]")
    with scripted_engine(tmp_path / "data", reply) as (engine, endpoint):
        indexed(engine, "harrow.pdf", *LIBRARY["harrow.pdf"])
        assert build(engine, "summaries") is JobState.DONE
        written = [one.summary for one in engine.themes.list() if one.summary.generator != "extractive"]
        assert written
        assert all("77" not in one.text for one in written)
        calls = len(endpoint.requests)
        assert build(engine, "summaries") is JobState.DONE
        # Summaries of the same statements are used again, and only themes without a supported statement ask again.
        assert len(endpoint.requests) <= 2 * calls - len(written)
        engine.documents.delete(engine.documents.find_ids(["harrow.pdf"]))
        assert "Harrow" not in texts(engine)


def test_summary_without_citations_gets_them(tmp_path: Path) -> None:
    with scripted_engine(tmp_path / "data", complete("Ida Brandt leads the Harrow Works.")) as (engine, _):
        indexed(engine, "harrow.pdf", *LIBRARY["harrow.pdf"])
        assert build(engine, "summaries") is JobState.DONE
        written = [one.summary for one in engine.themes.list() if one.summary.generator != "extractive"]
        assert written
        assert all("Ida Brandt leads the Harrow Works" in one.text and one.citations for one in written)


@pytest.mark.parametrize(
    ("play", "reason"),
    [
        (complete("Ida Brandt agreed on 77 plans. [1]"), "The passages do not support what the model wrote."),
        (status(500), "summaries are extracts instead of the model's text"),
    ],
)
def test_summary_that_a_model_cannot_write_is_an_extract_and_the_job_says_so(
    tmp_path: Path, play: Play, reason: str
) -> None:
    with scripted_engine(tmp_path / "data", play) as (engine, _):
        indexed(engine, "harrow.pdf", *LIBRARY["harrow.pdf"])
        job = engine.jobs.wait([engine.theme_builder.build("summaries").job_id])[0]
        assert job.state is JobState.DONE
        assert reason in job.reason
        assert {one.summary.generator for one in engine.themes.list()} == {"extractive"}


def test_model_finds_entities_that_the_text_contains(tmp_path: Path) -> None:
    reply = complete("- Ida Brandt\n- copper wire\n- supply chain delays\n- Atlantis")
    with scripted_engine(tmp_path / "data", reply) as (engine, _):
        indexed(engine, "harrow.pdf", *LIBRARY["harrow.pdf"])
        job = engine.jobs.wait([engine.theme_builder.build("entities").job_id])[0]
        assert job.state is JobState.DONE
        found = {one.name for one in engine._stores.themes.load_entities(
            engine._stores.documents.visible_versions()).popitem()[1].entities}  # fmt: skip
        assert found == {"Ida Brandt", "copper wire", "supply chain delays"}
