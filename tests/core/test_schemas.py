"""jsonschema is imported without the grammars of URIs, whoever imports it later."""

from __future__ import annotations

import subprocess
import sys

from tessera.core.configuration_files import jsonschema
from tessera.core.files import repo_root

SLOW = "rfc3987_syntax"


def test_a_schema_decides():
    library = jsonschema()
    assert library.Draft202012Validator({"type": "integer"}).is_valid(3)
    assert not library.Draft202012Validator({"type": "integer"}).is_valid("3")


def imported(*lines: str) -> set[str]:
    """Modules that a fresh interpreter has after these lines."""
    text = "\n".join(["import sys", *lines, "print(*sys.modules)"])
    command = [sys.executable, "-c", text]
    env = {"PYTHONPATH": str(repo_root() / "src"), "PATH": "/usr/bin:/bin"}
    return set(subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout.split())


def test_the_grammars_are_not_imported():
    found = imported("from tessera.core.configuration_files import jsonschema", "jsonschema()")
    assert "jsonschema" in found and not found & {SLOW, "lark"}


def test_help_and_doctor_import_neither_library():
    for lines in (
        ("import tessera.cli.main as m, contextlib, io", "sys.argv = ['tessera', '--help']",
         "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()): m.main()"),
        ("import tessera.machine.doctor.examine",),
        ("from tessera.core import platforms", "platforms.load_platform('haswell-sim')"),
    ):  # fmt: skip
        assert "jsonschema" not in imported(*lines)


def test_snakemake_gets_the_same_library(tmp_path):
    schema = tmp_path / "schema.json"
    schema.write_text('{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}')
    later = f"from snakemake.utils import validate; validate({{}}, {str(schema)!r})"
    found = imported("from tessera.core.configuration_files import jsonschema", "jsonschema()", later)
    assert "snakemake" in found and not found & {SLOW, "lark"}


def test_a_module_that_is_already_there_stays():
    found = imported(
        f"import {SLOW}", "from tessera.core.configuration_files import jsonschema", "jsonschema()"
    )
    assert {"jsonschema", SLOW} <= found


def test_it_can_be_imported_afterwards():
    found = imported(
        "from tessera.core.configuration_files import jsonschema", "jsonschema()", f"import {SLOW}"
    )
    assert SLOW in found


def test_the_snakefile_leaves_it_to_the_reader_of_configurations():
    """Snakemake's ``validate`` would import it first, and accepts a line end behind the end of a pattern."""
    text = (repo_root() / "Snakefile").read_text()
    assert "validate(" not in text and "CONFIGURATION.check(config" in text
