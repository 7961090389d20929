"""The panel on the Settings page that downloads a model of the catalogue and uses it."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from rag_core.engine import Engine
from rag_core.llm import gguf
from tests.support.app import OpenPage, press, settle, texts
from tests.support.file_server import FileServer, write_catalogue
from tests.support.servers import MODEL_FILE

CONTENT = b"GGUF" + bytes(1_000_000)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """Serve a file, and let the catalogue contain only this file."""
    with FileServer(CONTENT) as server:
        file = write_catalogue(tmp_path / "catalogue.toml", server.model())
        monkeypatch.setenv("RAG_MODEL_CATALOGUE", str(file))
        monkeypatch.setenv("RAG_OPENAI_CONTEXT_TOKENS", "1024")
        yield server


def labels(app: AppTest) -> dict[str, str]:
    """Return the labels of the buttons of the panel by key."""
    names = ("use_tiny", "remove_tiny", "pause_tiny", "close_tiny")
    return {button.key: button.label for button in app.button if button.key in names}


def test_model_is_downloaded_and_used_with_one_click(open_page: OpenPage, server: FileServer, tmp_path: Path) -> None:
    server.content = MODEL_FILE.read_bytes()
    write_catalogue(tmp_path / "catalogue.toml", server.model())
    app = open_page("admin")
    assert server.ranges == []
    assert labels(app) == {"use_tiny": "Download and use"}
    assert "fits the memory and the disk of this machine · licence Apache\\-2\\.0" in texts(app)
    settle(press(app, "use_tiny"), lambda app: "run inside this app" in texts(app))
    settle(app, lambda app: labels(app) == {})
    shown = texts(app)
    assert f"{tmp_path / 'data' / 'models' / 'tiny.gguf'}, run inside this app" in shown
    assert "no text leaves this machine" in shown
    # The form shows the connection, too, when the last step of the setup has ended.
    settle(app, lambda app: app.selectbox(key="connect_preset").value == "gguf")
    press(app, "connect_remove")
    assert labels(app) == {"use_tiny": "Use", "remove_tiny": "Remove"}


def test_download_is_paused_continued_and_removed(
    open_page: OpenPage, server: FileServer, engine: Engine, tmp_path: Path
) -> None:
    # Large enough to be paused before its end on a busy machine.
    server.content, server.slow = CONTENT + bytes(80_000_000), True
    write_catalogue(tmp_path / "catalogue.toml", server.model())
    app = press(open_page("admin"), "use_tiny")
    assert labels(app) == {"pause_tiny": "Pause", "close_tiny": "Cancel"}
    # Other sessions see the same download.
    other = open_page("admin")
    assert labels(other) == labels(app)
    settle(app, lambda _: engine.model_downloads.current.done > 100_000)
    settle(press(app, "pause_tiny"), lambda app: "use_tiny" in labels(app))
    assert labels(app)["use_tiny"].startswith("Continue (")
    # A page that is opened later offers to continue as well, as after a crash.
    assert labels(open_page("admin")) == labels(app)
    settle(press(app, "use_tiny"), lambda app: "close_tiny" in labels(app))
    settle(press(app, "close_tiny"), lambda app: "use_tiny" in labels(app))
    assert labels(app) == {"use_tiny": "Download and use"}
    server.sends_at_most, server.slow = 500_000, False
    settle(press(app, "use_tiny"), lambda app: app.error)
    assert "It continues after the first" in app.error[0].value
    assert labels(press(app, "remove_tiny")) == {"use_tiny": "Download and use"}
    assert not app.error


def test_error_is_shown_with_the_way_without_a_network(open_page: OpenPage, server: FileServer, tmp_path: Path) -> None:
    server.status = 503
    app = press(open_page("admin"), "use_tiny")
    settle(app, lambda app: app.error)
    assert "HTTP 503" in app.error[0].value
    assert 'kind of model \\"GGUF file\\"' in app.error[0].value


def test_failed_test_is_shown_and_nothing_is_connected(open_page: OpenPage, server: FileServer, engine: Engine) -> None:
    app = press(open_page("admin"), "use_tiny")
    settle(app, lambda app: app.error)
    assert "did not pass the test" in app.error[0].value
    assert "could not be loaded" in texts(app)
    assert engine.models.choice is None


def test_too_little_disk_disables_the_button(
    open_page: OpenPage, server: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=400_000_000))
    app = open_page("admin")
    assert "400 MB are free" in app.warning[0].value
    assert app.button(key="use_tiny").disabled


@pytest.fixture
def pip_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hide the package xllamacpp until pip has succeeded; return the file with pip's output."""
    output, find_spec = tmp_path / "data" / "models" / "install.log", importlib.util.find_spec

    def is_missing(name: str) -> bool:
        return name == "xllamacpp" and not (output.is_file() and "already satisfied" in output.read_text())

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if is_missing(name) else find_spec(name))
    return output


def test_one_click_also_installs_the_missing_package(open_page: OpenPage, server: FileServer, pip_output: Path) -> None:
    app = open_page("admin")
    assert "is installed too if it is missing" in texts(app)
    settle(press(app, "use_tiny"), lambda app: app.error)
    assert pip_output.is_file()
    # The test of the model follows, which the file of this test does not pass.
    assert "did not pass the test" in app.error[0].value
    assert labels(app)["use_tiny"] == "Use"


def test_failed_installation_is_explained_and_can_be_repeated(
    open_page: OpenPage,
    server: FileServer,
    engine: Engine,
    tmp_path: Path,
    pip_output: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("--no-index\nxllamacpp-of-another-name==1\n")
    with monkeypatch.context() as broken:
        broken.setattr(gguf, "_INSTALL", [*gguf._INSTALL[:-1], str(requirements)])
        app = press(open_page("admin"), "use_tiny")
        settle(app, lambda app: labels(app).get("use_tiny") == "Install and use")
    assert "could not be installed" in app.error[0].value
    assert app.code[0].value == engine.model_downloads.install_command
    settle(press(app, "use_tiny"), lambda app: labels(app).get("use_tiny") == "Use")
    assert "did not pass the test" in app.error[0].value


def test_environment_hides_the_panel(open_page: OpenPage, server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_OPENAI_MODEL", "small")
    assert labels(open_page("admin")) == {}


def test_invalid_catalogue_leaves_the_form_usable(open_page: OpenPage, server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "catalogue.toml").write_text("models = 3")
    app = open_page("admin")
    assert "is not valid" in app.error[0].value
    assert app.button(key="connect_save")
