"""Random calls with and without the library: how many were compared, and how many differed."""

from __future__ import annotations

import re
import subprocess
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace

from tessera.core.checks import FAIL, PASS, SKIP, Check
from tessera.core.files import build_dir, built, repo_root
from tessera.core.tables import table_text
from tessera.lab.allocator_proof.suite.section import Findings, ProofSettings, Section, tail
from tessera.machine.container.component_tests import OPTIONS
from tessera.machine.container.process import stopped_at_exit
from tessera.machine.container.toolchain import toolchain
from tessera.machine.container.watchdog import watchdog
from tessera.machine.reserve import HugePagesUnavailable, reserve_huge_pages

THREADS = (1, 4)
WINDOW_LAYOUTS = ("2mb", "2mb-exact", "2mb-soft")
#: Random calls of each layout with windows: its forks are left out, so there is less to find.
WINDOW_OPERATIONS = 300_000
#: What compare.py asks for (6), for the two processes that may overlap.
PAGES_2MB = 12

_LINE = re.compile(
    r"^(?P<verdict>PASS|FAIL) (?P<layout>\S+): (?P<operations>\d+) operations, (?P<threads>\d+) threads, "
    r"(?P<differences>\d+) differences, (?P<seconds>[\d.]+) s$"
)


@dataclass(frozen=True)
class RandomCallsOutcome:
    """One layout with one number of threads, as compare.py judged it; None: it did not get that far."""

    layout: str
    threads: int
    verdict: str
    operations: int | None = None
    differences: int | None = None
    seconds: float | None = None
    reason: str = ""


def differential_outcome(
    output: str, layout: str, threads: int, operations: int, status: int
) -> RandomCallsOutcome:
    """compare.py's verdict; anything but a PASS over all operations with status 0 is none."""
    found = [match for match in map(_LINE.match, output.splitlines()) if match]
    skipped = re.search(r"^SKIP \S+: (.*)$", output, re.M)
    if skipped and status == 77 and not found:
        return RandomCallsOutcome(layout, threads, SKIP, reason=skipped.group(1))
    if len(found) != 1 or found[0]["layout"] != layout or int(found[0]["threads"]) != threads:
        return RandomCallsOutcome(
            layout, threads, FAIL, reason=f"status {status}, no verdict: {tail(output)}"
        )
    numbers = (int(found[0]["operations"]), int(found[0]["differences"]), float(found[0]["seconds"]))
    reason = ""
    if found[0]["verdict"] != PASS or numbers[1] or status != 0:
        # The first difference and the command that repeats it are several lines; one here.
        reason = f"status {status}: {tail(output, 12)}"
    elif numbers[0] != operations:
        reason = f"{operations} operations were asked for"
    return RandomCallsOutcome(layout, threads, FAIL if reason else PASS, *numbers, reason)


def run(settings: ProofSettings) -> Findings:
    """4KB pages first; then windows, if the huge pages can be had."""
    built("mosalloc", "differential")
    lines = [_compare(settings, "4kb", threads, settings.operations) for threads in THREADS]
    with ExitStack() as held:
        missing = ""
        try:
            held.enter_context(reserve_huge_pages(PAGES_2MB))
        except HugePagesUnavailable as error:
            missing = error.sentence
        for layout in WINDOW_LAYOUTS:
            for threads in THREADS:
                if missing:
                    lines.append(RandomCallsOutcome(layout, threads, SKIP, reason=missing))
                    continue
                operations = min(WINDOW_OPERATIONS, settings.operations)
                lines.append(_compare(settings, layout, threads, operations))
    checks = [Check(f"{line.layout}, {line.threads} threads", line.verdict, line.reason) for line in lines]
    return Findings(checks, _text(lines), [asdict(line) for line in lines])


def _compare(settings: ProofSettings, layout: str, threads: int, operations: int) -> RandomCallsOutcome:
    script = repo_root() / "artifacts/mosalloc/tests/differential/compare.py"
    argv = ["python3", script, build_dir("mosalloc"), "--operations", str(operations)]
    argv += ["--layout", layout, "--threads", str(threads)]
    settings.say(f"{layout}, {threads} threads, {operations} operations")
    options = replace(OPTIONS, writes=(build_dir("mosalloc"),))
    process = toolchain().popen(
        argv, options=options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    with stopped_at_exit(process), watchdog(process, script.name):
        output = process.communicate()[0]
    line = differential_outcome(output, layout, threads, operations, process.returncode)
    settings.say(f"{line.verdict} {layout}, {threads} threads{f': {line.reason}' if line.reason else ''}")
    return line


def _text(lines: list[RandomCallsOutcome]) -> str:
    def shown(value: float | None, form: str) -> str:
        return "-" if value is None else format(value, form)

    heads, rows = ("layout", "threads", "operations", "differences", "s", "verdict"), []
    for line in lines:
        numbers = (shown(line.operations, ","), shown(line.differences, "d"), shown(line.seconds, ".1f"))
        rows.append((line.layout, str(line.threads), *numbers, line.verdict))
    return table_text(heads, rows)


SECTION = Section("differential", "Random calls with and without the library", run)
