"""Create the tables of a new database, and migrate older databases with Alembic."""

from __future__ import annotations

import itertools
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import Column, Connection, Engine, MetaData, String, Table, inspect, select

from rag_core.errors import DataFolderUnwritable, StoreUnavailable
from rag_core.store.schema import metadata, preferences

log = logging.getLogger(__name__)
# The newest revision in `migrations/versions`. It is a constant, because Alembic, which could find it, is slow to load.
HEAD = "0015"
FIRST = "0001"
# A preference for versions of Footnote without Alembic, which refuse a database if the number is not 1.
NUMBER_NAME, NUMBER = "schema", 2
# The table in which Alembic stores the revision of the database.
_REVISIONS = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))
_REPORT = "The database is unchanged. Start the version of Footnote that you used before, and report this message."


def prepare_schema(engine: Engine) -> None:
    """Create the tables of a new database, or migrate an older database.

    Before a migration, a SQLite database is copied to the path of `choose_backup_path`. All migrations run in one
    transaction, so that the database does not change if a migration fails.

    Raises
    ------
    StoreUnavailable
        Another version of Footnote wrote the database, with a schema that is unknown here, or a migration failed.
    DataFolderUnwritable
        The database could not be copied before a migration.
    """
    with engine.connect() as connection:
        revision = _find_revision(connection)
    if revision is None:
        with _open_transaction(engine) as connection:
            metadata.create_all(connection)
            _REVISIONS.create(connection)
            connection.execute(_REVISIONS.insert().values(version_num=HEAD))
            connection.execute(preferences.insert().values(name=NUMBER_NAME, value=NUMBER))
    elif revision != HEAD:
        _migrate(engine, revision)


def choose_backup_path(database: Path, revision: str) -> Path:
    """Return the path for a copy of a database before its migration, such as ``footnote.sqlite.schema-0001``.

    If this file exists, a number is added to its name.
    """
    target = database.with_name(f"{database.name}.schema-{revision}")
    numbers = itertools.count(2)
    while target.exists():
        target = database.with_name(f"{database.name}.schema-{revision}-{next(numbers)}")
    return target


def _migrate(engine: Engine, revision: str) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", "rag_core.store:migrations")
    shown = engine.url.render_as_string(hide_password=True)
    if revision not in {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}:
        raise StoreUnavailable(
            f"Another version of Footnote wrote the database {shown} (its schema is {revision}, not {HEAD}). Start "
            "that version, or name another folder (--data-dir, RAG_DATA_DIR) and add the documents there; their files "
            "are in the folder files of this data folder."
        )
    _back_up(engine, revision)
    log.info("updating the database %s from schema %s to %s", shown, revision, HEAD)
    with _open_transaction(engine) as connection:
        config.attributes["connection"] = connection
        if not inspect(connection).has_table(_REVISIONS.name):
            command.stamp(config, revision)
        command.upgrade(config, "head")


def _find_revision(connection: Connection) -> str | None:
    """Return the revision of a database; ``None`` for a new database.

    A database without the table of Alembic has a number in its preferences: 1 stands for `FIRST`. Any other number is
    returned as text, which is no known revision.
    """
    tables = inspect(connection)
    if tables.has_table(_REVISIONS.name):
        return connection.execute(select(_REVISIONS.c.version_num)).scalar()
    if not tables.has_table(preferences.name):
        return None
    number = connection.execute(select(preferences.c.value).where(preferences.c.name == NUMBER_NAME)).scalar()
    return {None: None, 1: FIRST}.get(number, str(number))


def _back_up(engine: Engine, revision: str) -> None:
    """Copy a SQLite database to a file next to it. Other databases are not copied."""
    name = engine.url.database
    if engine.dialect.name != "sqlite" or not name or name == ":memory:":
        return
    target = choose_backup_path(Path(name), revision)
    partial = target.with_name(f"{target.name}.partial")
    try:
        copy_database(Path(name), partial)
        # Only a complete copy has the final name.
        partial.replace(target)
    except (OSError, sqlite3.Error) as error:
        raise DataFolderUnwritable(
            f"The database {name} is of an older version and must be updated, but it could not be copied to {target} "
            f"before ({error}). The database is unchanged. Free as much space as it takes and start Footnote again."
        ) from error


def copy_database(source: Path, target: Path) -> None:
    """Copy a SQLite database as of one moment, even while another process writes to it. Replace ``target``."""
    target.unlink(missing_ok=True)
    with closing(sqlite3.connect(source)) as original, closing(sqlite3.connect(target)) as copy:
        original.backup(copy)


@contextmanager
def _open_transaction(engine: Engine) -> Iterator[Connection]:
    """Open a transaction that includes changes of the schema."""
    if engine.dialect.name != "sqlite":
        with engine.begin() as connection:
            yield connection
        return
    # The SQLite driver of Python does not include changes of the schema in its transactions, so that the transaction is
    # opened in SQL. Foreign keys are not enforced meanwhile, because tables are altered by copying and deleting them.
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            yield connection
            if broken := connection.exec_driver_sql("PRAGMA foreign_key_check").first():
                raise StoreUnavailable(f"A migration left a row without its parent (table {broken[0]}). {_REPORT}")
        except BaseException:
            connection.exec_driver_sql("ROLLBACK")
            raise
        else:
            connection.exec_driver_sql("COMMIT")
        finally:
            connection.exec_driver_sql("PRAGMA foreign_keys=ON")
