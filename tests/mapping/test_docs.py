"""docs/mappings.md: its example is a mapping, its commands run, its tables are complete."""

from __future__ import annotations

import re
import shlex

import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.mapping.contiguity import READINGS
from tessera.core.mapping.kinds import KINDS
from tessera.core.mapping.mapping_file import RULES, read_mapping


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "mappings.md").read_text()


def test_the_example_is_a_mapping(page, tmp_path):
    (example,) = re.findall(r"```\n(epoch,.*?)```", page, re.DOTALL)
    (tmp_path / "m.csv").write_text(example)
    assert list(read_mapping(tmp_path / "m.csv").epochs) == [0, 50]


def test_commands_without_a_trace_run(page, tmp_path):
    blocks = "".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL))
    lines = blocks.replace("\\\n", " ").splitlines()
    seen = 0
    for line in lines:
        if "/tmp/live" in line:  # needs root: test_capture.py
            continue
        if "gups.tst" in line or "demand.csv" in line:  # tests/end_to_end/test_readme.py has the trace
            continue
        words = shlex.split(line.replace("/tmp/", f"{tmp_path}/"))
        assert words[:2] == ["./run", "tessera"]
        done = CliRunner().invoke(cli, words[2:])
        assert done.exit_code == 0, f"{line}\n{done.output}\n{done.exception}"
        seen += 1
    assert seen >= 12 and (tmp_path / "contiguity.svg").exists()


def test_tables_are_complete(page):
    codes = re.findall(r"^\| `(mapping/[a-z-]+)` \|", page.split("## A live program")[0], re.MULTILINE)
    assert codes == [*RULES, "mapping/touched"]
    kinds = page.split("## Kinds")[1].split("\n\n")[2]
    assert re.findall(r"^\| `(\w+)` \|", kinds, re.MULTILINE) == list(KINDS)
    readings = page.split("| reading |")[1].split("\n\n")[0]
    assert re.findall(r"^\| `(\w+)`", readings, re.MULTILINE) == list(READINGS)
