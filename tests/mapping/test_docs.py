"""mappings.md: its example is a mapping, its tables are complete; map-memory.md: its commands run."""

from __future__ import annotations

import re

from tessera.core.mapping.contiguity import READINGS
from tessera.core.mapping.kinds import KINDS
from tessera.core.mapping.mapping_file import RULES, read_mapping
from tests.docs import pages

#: words of commands that need root (test_capture_live.py), or a trace (tests/end_to_end/test_readme.py)
ELSEWHERE = ("/tmp/live", "gups.tst", "demand.csv")


def test_the_example_is_a_mapping(tmp_path):
    (example,) = re.findall(r"```\n(epoch,.*?)```", pages.text("mappings.md"), re.DOTALL)
    (tmp_path / "m.csv").write_text(example)
    assert list(read_mapping(tmp_path / "m.csv").epochs) == [0, 50]


def test_commands_without_a_trace_run(tmp_path):
    assert pages.invoke_all("map-memory.md", places={"/tmp/": f"{tmp_path}/"}, but=ELSEWHERE) >= 12
    assert (tmp_path / "contiguity.svg").exists()


def test_tables_are_complete():
    page = pages.text("mappings.md")
    codes = re.findall(r"^\| `(mapping/[a-z-]+)` \|", pages.text("codes.md"), re.MULTILINE)
    assert codes == list(RULES) and "`mapping/touched`" in page.split("## A live program")[0]
    kinds = page.split("## Kinds")[1].split("\n\n")[2]
    assert re.findall(r"^\| `([\w-]+)` \|", kinds, re.MULTILINE) == list(KINDS)
    readings = page.split("| reading |")[1].split("\n\n")[0]
    assert re.findall(r"^\| `(\w+)`", readings, re.MULTILINE) == list(READINGS)
