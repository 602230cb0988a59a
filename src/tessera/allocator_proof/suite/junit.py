"""ctest's JUnit file: the result of each test."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from tessera.allocator_proof.suite.model import FAIL, PASS, SKIP
from tessera.allocator_proof.suite.text import tail
from tessera.core.errors import EXIT_FAILED, TesseraError

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
            "build mosalloc with its tests: ./run tessera build --test mosalloc",
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
    ended = message or (
        "failed" if status == "fail" else f"status '{status}'"
    )  # ctest leaves it empty at times
    reason = ": ".join(part for part in (ended, tail(output)) if part)
    return Test(name, FAIL, seconds, reason)
