"""``model``: download language models as GGUF files, and test the model in use."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from rag_core.cli import console, json_rows
from rag_core.cli.common import FAILED, Json, models_folder, open_engine
from rag_core.errors import DownloadCancelled
from rag_core.llm.gguf import GGUF_INSTALL_COMMAND, is_gguf_installed
from rag_core.llm.model_catalogue import find_model, load_catalogue
from rag_core.llm.model_download import download_model
from rag_core.system import make_new_files_private
from rag_core.types import format_size

model_app = typer.Typer(help="Download and test language models.", no_args_is_help=True, rich_markup_mode=None)


@model_app.command("list")
def list_models(as_json: Json = False) -> None:
    """List the models that can be downloaded."""
    rows = [json_rows.catalogue_model(model, models_folder()) for model in load_catalogue()]
    if as_json:
        for row in rows:
            console.print_json(row)
        return
    shown = [
        row
        | {
            "downloaded": f"{row['downloaded_bytes'] / row['bytes']:.0%}" if row["downloaded_bytes"] else "no",
            "size": format_size(row["bytes"]),
            "memory": format_size(row["memory_bytes"]),
        }
        for row in rows
    ]
    columns = ("name", "downloaded", "size", "memory", "licence", "fits", "reason")
    console.print_table(shown, columns, numeric=("size", "memory"))


@model_app.command("add")
def add_model(
    name: Annotated[str, typer.Argument(help="Name from model list.", show_default=False)], as_json: Json = False
) -> None:
    """Download a model; continue an interrupted download."""
    make_new_files_private()
    model, started = find_model(name), time.monotonic()
    with console.download_bar(model.name) as show:
        try:
            path = download_model(model, models_folder(), on_progress=show)
        except KeyboardInterrupt:
            raise DownloadCancelled(
                f"The download of {name} was stopped. Run model add {name} again to continue it."
            ) from None
    if as_json:
        console.print_json(json_rows.downloaded(model, path, is_gguf_installed(), time.monotonic() - started))
        return
    console.print_line(f"{name}: downloaded to {path}")
    if not is_gguf_installed():
        console.print_note(f"GGUF files need the package xllamacpp. Install it: {GGUF_INSTALL_COMMAND}")
    console.print_note(f"To use the model, set it in the environment or in .env: RAG_GGUF={path.absolute()}")


@model_app.command("test")
def check_model(as_json: Json = False) -> None:
    """Test the model in use with small requests."""
    failed = False
    with open_engine() as engine:
        for check in engine.models.test():
            failed = failed or check.passed is False
            if as_json:
                console.print_json(json_rows.model_check(check))
            else:
                result = {True: "passed", False: "failed", None: "unclear"}[check.passed]
                console.print_line(f"{check.name}: {result}. {check.words}")
    if failed:
        raise typer.Exit(FAILED)
