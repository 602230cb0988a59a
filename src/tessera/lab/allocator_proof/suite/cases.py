"""Every test of the component (ctest): cases under each condition, unit tests, sanitizers, the fuzzer.

ctest's JUnit file has the result of each test. Tests named ``<condition>.<case>`` are shown as a matrix.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tessera.core.checks import FAIL, PASS, SKIP, Check, status_counts
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import build_dir
from tessera.core.tables import table_text
from tessera.lab.allocator_proof.suite.section import Findings, ProofSettings, Section, tail
from tessera.machine.container.component_tests import OPTIONS, TIMEOUT_SECONDS, huge_pages
from tessera.machine.container.toolchain import toolchain
from tessera.machine.limits import usable_processors

# ctest's JUnit file: the result of each test.

#: ctest's reasons for a test that said itself that it skips; any other test that did not run is a failure.
_SAID_SKIP = ("SKIP_RETURN_CODE", "SKIP_REGULAR_EXPRESSION")


@dataclass(frozen=True)
class Test:
    """One test of ctest; ``reason`` is empty where it passed."""

    name: str
    verdict: str
    seconds: float
    reason: str = ""


def read_junit(path: Path) -> list[Test]:
    """The file's tests, in its order; a missing or damaged file is an error."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise TesseraError(
            f"ctest's results {path}",
            str(error),
            "build mosalloc with its tests: ./run tessera dev build --test mosalloc",
            exit_code=EXIT_FAILED,
        ) from None
    return [_test(case) for case in root.iter("testcase")]


def _test(case: ElementTree.Element) -> Test:
    name, status = case.get("name", ""), case.get("status", "")
    seconds = float(case.get("time") or 0)
    if status == "run":
        return Test(name, PASS, seconds)
    output = case.findtext("system-out") or ""
    message = next((e.get("message", "") for e in case if e.tag in ("failure", "skipped")), "")
    if status == "notrun" and message.startswith(_SAID_SKIP):
        said = re.search(r"^SKIP:?\s+(.*)$", output, re.M)
        return Test(name, SKIP, seconds, said.group(1).strip() if said else tail(output) or message)
    # ctest leaves the message empty at times.
    ended = message or ("failed" if status == "fail" else f"status '{status}'")
    reason = ": ".join(part for part in (ended, tail(output)) if part)
    return Test(name, FAIL, seconds, reason)


# Tests named ``<condition>.<case>`` as a matrix, and the others as one line each.

MATRIX_CONDITIONS = ("kernel", "4kb", "qemu", "preload", "2mb", "demand", "exact", "stacks", "1gb")

#: Prefixes of tests that are programs of their own; the others are suites of unit tests, one line each.
_SINGLE = ("sanitized", "differential", "lives", "layout_fuzz")


def split_by_condition(tests: Sequence[Test]) -> tuple[dict[str, dict[str, Test]], list[Test]]:
    """The matrix (case -> condition -> test) and the tests that are in none of its columns."""
    matrix: dict[str, dict[str, Test]] = {}
    others = []
    for test in tests:
        condition, dot, case = test.name.partition(".")
        if dot and condition in MATRIX_CONDITIONS:
            matrix.setdefault(case, {})[condition] = test
        else:
            others.append(test)
    return matrix, others


def matrix_text(matrix: dict[str, dict[str, Test]]) -> str:
    """A line for each case; ``-`` where the case does not exist (or was not asked for)."""
    if not matrix:
        return ""
    used = [name for name in MATRIX_CONDITIONS if any(name in row for row in matrix.values())]
    rows = []
    for case, row in matrix.items():
        rows.append((case, *(row[name].verdict if name in row else "-" for name in used)))
    return table_text(("case", *used), rows)


def others_text(tests: Sequence[Test]) -> str:
    """Suites with how many of their tests passed, then the single programs."""
    groups: dict[str, list[Test]] = {}
    for test in tests:
        prefix = test.name.partition(".")[0]
        groups.setdefault(test.name if prefix in _SINGLE else prefix, []).append(test)
    heads, rows = ("test", "verdict", "passed", "failed", "skipped", "s"), []
    for name, members in groups.items():
        found = status_counts(test.verdict for test in members)
        worst = next(verdict for verdict in (FAIL, SKIP, PASS) if found[verdict])
        numbers = [str(found[verdict]) for verdict in (PASS, FAIL, SKIP)]
        rows.append((name, worst, *numbers, f"{sum(test.seconds for test in members):.1f}"))
    return table_text(heads, rows) if rows else ""


# The section.


def run(settings: ProofSettings) -> Findings:
    """Run ctest where the component was built, with huge pages if they can be had."""
    # Below the checkout: the toolchain does not see every folder.
    tests_file = build_dir("mosalloc") / "proof-ctest.xml"
    log = tests_file.with_suffix(".log")
    for file in (tests_file, log):
        file.unlink(missing_ok=True)
    argv: list[str | Path] = ["ctest", "--test-dir", build_dir("mosalloc"), "--no-tests=error", "--quiet"]
    argv += ["--timeout", str(TIMEOUT_SECONDS), "--parallel", str(usable_processors())]
    argv += ["--output-on-failure", "--output-log", log, "--output-junit", tests_file]
    argv += ["-R", settings.cases] if settings.cases is not None else []
    with huge_pages(settings.say):
        options = replace(OPTIONS, writes=(build_dir("mosalloc"),))
        status = toolchain().run(argv, check=False, options=options).returncode
    said = log.read_text(errors="replace") if log.exists() else "ctest wrote no log"
    if not tests_file.exists():
        raise TesseraError(
            f"ctest {f'-R {settings.cases}' if settings.cases is not None else 'of mosalloc'}",
            f"status {status}, no results: {tail(said)}",
            "build mosalloc with its tests: ./run tessera dev build --test mosalloc",
            exit_code=EXIT_FAILED,
        )
    tests = read_junit(tests_file)
    matrix, others = split_by_condition(tests)
    checks = [Check(test.name, test.verdict, test.reason) for test in tests]
    if status != 0 and not any(check.status == FAIL for check in checks):
        checks.append(Check("ctest", FAIL, f"status {status} without a failed test: {tail(said)}"))
    text = "\n\n".join(part for part in (matrix_text(matrix), others_text(others)) if part)
    rows = [
        {"test": test.name, "verdict": test.verdict, "seconds": test.seconds, "reason": test.reason}
        for test in tests
    ]
    return Findings(checks, text, rows)


SECTION = Section("cases", "Case table", run)
