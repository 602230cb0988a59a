"""What the runs under one C library have shown."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.allocator_proof.suite.libraries.plan import THREADS, run_under
from tessera.allocator_proof.suite.model import FAIL, PASS, Check
from tessera.allocator_proof.suite.text import tail


@dataclass(frozen=True)
class Ran:
    """A script's output, and the folder with what its runs left."""

    output: str
    folder: Path

    def glibc(self) -> str:
        """The version that the dynamic linker prints: ``2.41``; empty if it did not."""
        found = re.search(r"^libc .*\bversion (2\.\d+)", self.output, re.M)
        return found.group(1) if found else ""

    def statuses(self) -> dict[str, int]:
        """Exit status of each run that ended."""
        return {name: int(status) for name, status in re.findall(r"^ran (\S+) (\d+)$", self.output, re.M)}

    def log(self, name: str) -> str:
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""


def checks(version: str, ran: Ran, names: Sequence[str]) -> list[Check]:
    """A check for the version, for each case, and for each comparison of random calls."""
    found = ran.glibc()
    wrong = "" if found == version else f"glibc {found or 'unknown'} was found: {tail(ran.output, 2)}"
    made = [_check(f"{version} version", wrong)]
    statuses = ran.statuses()
    for name in names:
        if name.partition(".")[0] not in ("plain", "library"):
            made.append(_check(f"{version} {name}", _wrong_in_case(ran, name, statuses.get(name))))
    for threads in THREADS:
        made.append(_check(f"{version} random calls, {threads} threads", _difference(ran, threads, statuses)))
    return made


def _check(name: str, wrong: str) -> Check:
    return Check(name, FAIL if wrong else PASS, wrong)


def _wrong_in_case(ran: Ran, name: str, status: int | None) -> str:
    if status != 0:
        return f"{'did not end' if status is None else f'status {status}'}: {tail(ran.log(name))}"
    condition, _, case = name.partition(".")
    if condition == "kernel":
        return ""
    report = json.loads((ran.folder / f"{name}.json").read_text())
    if report["counters"]["fork_late_lock"] != 0:
        return "the library could not patch libc's fork, so a fork can hang: fork_late_lock is 1"
    return run_under().wrong_in(report, condition, case)


def _difference(ran: Ran, threads: int, statuses: dict[str, int]) -> str:
    names = [f"{kind}.{threads}" for kind in ("plain", "library")]
    ended = [statuses.get(name) for name in names]
    plain, ours = map(ran.log, names)
    if ended != [0, 0]:
        return f"statuses {ended}: {tail(plain, 2)} / {tail(ours, 2)}"
    if "digest" not in plain or plain != ours:
        return f"without the library: {tail(plain, 2)}; with it: {tail(ours, 2)}"
    return ""
