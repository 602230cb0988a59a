"""The tutorials of docs/start: their commands run in the order of the page, and print what it shows.

A block ``console`` has commands after ``$``, and below each what it prints; ``...`` stands for any lines.
Simulated numbers are compared to the last digit, with two exceptions, because a stack begins where the
environment ends: numbers of 7 and more digits to within 1e-5, and counts in rows of a table to within the
walk of one page (:data:`ONE_WALK`). What a machine or a clock decides is compared by its words
(:data:`BY_WORDS`).
"""

from __future__ import annotations

import os
import re

import pytest

from tessera.core.files import build_dir

from . import pages

TUTORIALS = sorted(path.name for path in (pages.ROOT / "docs" / "start").glob("*.md"))
#: Commands of the tutorials that take minutes, and the test that runs them.
LONG = {
    "./run --yes smoke": "tests/end_to_end/test_smoke.py",
}
#: They reserve huge pages, which needs consent (TESSERA_RESERVE=1).
RESERVING = ("--apply --yes", "mosalloc reserve --yes")
#: Parts of commands whose numbers differ from machine to machine.
BY_WORDS = ("mosalloc",)
#: Cycles of a walk whose entry is in the L1: a stack may reach into one page more.
ONE_WALK = 4
#: What a page of components needs: component -> a file of it.
BUILT = {
    "tracer": "libtessera-trace.so",
    "simulator": "tessera-sim",
    "workloads": "gups",
    "mosalloc": "mosalloc-run",
}


def stable(line: str, command: str) -> str:
    """What every machine prints: the name of a row of doctor, words without numbers, or the whole line."""
    if command.endswith("doctor"):
        row = re.match(r"(?:PASS|SKIP|FAIL)  (.+?)  ", line)
        return row[1] if row else ""
    if any(part in command for part in BY_WORDS):
        line = re.sub(r"[+-]?\d[\d.,]*(?:[KMG]?B)?", "#", line)
    return " ".join(line.split())


def same(shown: str, printed: str) -> bool:
    """Whether the lines are equal, but for numbers that a stack moves and the last digit of rounded ones."""
    inexact = r"(?<![\d.])(?:\d{7,}|\d\.\d+e\d+)(?!\d)"
    if shown.count(",") > 1 and " " not in shown:
        inexact = r"(?<![^,])\d{2,}(?![^,])"
    numbers = zip(re.findall(inexact, shown), re.findall(inexact, printed), strict=False)
    return re.sub(inexact, "#", shown) == re.sub(inexact, "#", printed) and all(
        abs(float(a) - float(b)) <= 1.01 * step(a) for a, b in numbers
    )


def step(number: str) -> float:
    """By how much a number may differ: one in its last place if rounded, else 1e-5 of it, at least a walk."""
    mantissa, _, exponent = number.partition("e")
    places = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent) - places) if exponent else max(1e-5 * float(number), ONE_WALK)


def absent(shown: list[str], printed: str, command: str) -> list[str]:
    """Lines of the page that the command did not print, in their order."""
    lines = iter([stable(line, command) for line in printed.splitlines()])
    expected = [(line, stable(line, command)) for line in shown if line != "..."]
    return [line for line, words in expected if words and not any(same(words, other) for other in lines)]


def as_here(command: str, folder) -> str:
    """The command with this Python, writing below ``folder``."""
    command = re.sub(r"^\./run (doctor|demo)", r"./run tessera \1", command.replace("/tmp/", f"{folder}/"))
    return command.replace("tessera demo", f"tessera demo --out {folder}/results/demo")


def needs_components(page: str) -> bool:
    return any("build/" in command for command, _ in pages.sessions(page))


@pytest.fixture
def components(request):
    if needs_components(request.getfixturevalue("page")):
        for component, name in BUILT.items():
            if not (build_dir(component) / name).exists():
                pytest.skip(f"{name} is not built: ./run tessera dev build {component}")


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.toolchain if needs_components(page) else ()) for page in TUTORIALS],
)
def test_a_page_runs_and_prints_what_it_shows(page, components, tmp_path):
    ran = 0
    for command, shown in pages.sessions(page):
        if command.startswith(tuple(LONG)):
            continue
        if any(part in command for part in RESERVING) and os.environ.get("TESSERA_RESERVE") != "1":
            continue
        printed = pages.shell(f"{{ {as_here(command, tmp_path)}; }} 2>&1", pages.ROOT)
        printed = pages.replaced(printed, {f"{tmp_path}/results": "results", f"{tmp_path}/": "/tmp/"})
        assert not absent(shown, printed, command), f"{command}\n{printed}"
        ran += 1
    assert ran


def test_each_long_command_is_on_a_page_and_its_test_exists():
    commands = [line for page in TUTORIALS for line in pages.typed(page, languages=("console", "text"))]
    for command, test in LONG.items():
        assert command in commands and (pages.ROOT / test).exists()


def test_a_wrong_number_is_found():
    assert absent(["a 1", "...", "b 2"], "a 1\nx\nb 2\n", "command") == []
    assert absent(["a 1", "b 2"], "b 2\na 1\n", "command") == ["b 2"]
    assert absent(["gain +5.2% +- 1%"], "gain +52.07% +- 2.76%", "mosalloc") == []
    assert absent(["3018944B of 1000007"], "3018960B of 1000007", "command") == []
    assert absent(["3018944B of 1000007"], "3018944B of 1000107", "command") == ["3018944B of 1000007"]
    assert absent(["a-8,16619843,0,33,1316"], "a-8,16619901,0,34,1320", "command") == []
    assert absent(["a-8,16619843,0,33,1316"], "a-8,16619843,0,33,1326", "command") == [
        "a-8,16619843,0,33,1316"
    ]
    assert absent(["a-8,1,0,33"], "a-8,2,0,33", "command") == ["a-8,1,0,33"]
    assert absent(["gain +5.2%"], "loss +5.2%", "mosalloc") == ["gain +5.2%"]
