"""docs/reference/counters.md: its tables of conditions and bounds are those of the program."""

from __future__ import annotations

import re

from tessera.cli import machine as command
from tessera.machine.counter_check import known_programs
from tessera.machine.counter_check.opening import STATUSES as CHECK_STATUSES
from tessera.machine.environment import CHECKS, RUN_CHECKS, examine_conditions, plan_changes, run_conditions
from tessera.machine.environment.condition import LEVELS, STATUSES, KernelSetting
from tests.docs import pages

from . import trees

PAGE = pages.text("counters.md")


def test_levels_and_statuses():
    assert dict(pages.table("codes.md", "| level | if the condition is not met |")) == LEVELS
    assert dict(pages.table("codes.md", "| status of a condition | meaning |")) == STATUSES
    assert set(re.findall(r"`(refused|differs|unproven)`", PAGE)) == set(CHECK_STATUSES) - {"ok"}


def test_conditions_and_their_levels(tmp_path):
    here = {row.check: row.level for row in [*examine_conditions(tmp_path), *run_conditions([], 0, 0)]}
    written = pages.table("codes.md", "| check | level | wanted | read from | remedy |")
    assert [(row[0], row[1]) for row in written] == [(c, here[c]) for c in (*CHECKS, *RUN_CHECKS)]


def test_what_fix_sets(tmp_path):
    """Of a loud machine, each check with an entry in the column is set to it; the others are not."""
    values = dict(pages.table("counters.md", "| check | `--fix` sets |"))
    assert set(values) <= set(CHECKS)
    root = trees.write(tmp_path, trees.LOUD)
    changed = {str(c.path): c.value for c in plan_changes(root).changes if isinstance(c, KernelSetting)}
    files = {
        "counting": "perf_event_paranoid", "overcommit": "nr_overcommit_hugepages",
        "thp": "transparent_hugepage/enabled", "smt": "smt/control", "numa-balancing": "numa_balancing",
        "watchdog": "nmi_watchdog", "ksm": "ksm/run", "governor": "scaling_governor",
    }  # fmt: skip
    for check, name in files.items():
        assert {v for path, v in changed.items() if path.endswith(name)} == {values[check]}, check
    assert set(values) - set(files) == {"irqbalance", "turbo", "c-states"}


def test_numbers_of_the_bounds():
    assert f"{known_programs.LOADS:,} loads" in PAGE and f"{known_programs.PAGES} new pages" in PAGE
    assert f"- {known_programs.MOST_ENTRIES}/{known_programs.MANY.pages} = 0.967" in PAGE


def test_the_commands_that_change_nothing(tmp_path, monkeypatch):
    """On a quiet machine of files, which has fewer free 2MB pages than the second command asks for."""
    root = trees.write(tmp_path / "machine")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "_root", lambda: root)
    lines = pages.typed("measure.md", "Prepare the machine")[:2]
    printed = [pages.invoke(line, status) for status, line in enumerate(lines)]
    stops = [text.strip().splitlines()[-2] for text in printed]
    assert stops == [f"no run starts because of: {what}" for what in ("nothing", "2mb-pages")]
    assert (tmp_path / "environment.csv").read_text().startswith("check,level,wanted,found,status,remedy\n")
