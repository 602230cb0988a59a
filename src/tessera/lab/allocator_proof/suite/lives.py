"""Random lives with and without the library: operations, differences, and hits of each mechanism."""

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

LAYOUTS = ("4kb", "2mb", "2mb-few", "demand", "exact", "stacks")
#: Enough for HITS of each mechanism under each layout; with fewer operations, hits are only counted.
LEAST_OPERATIONS = 200_000
HITS = 20
#: What compare.py asks for, for two lives at a time.
PAGES_2MB = 80

_LINE = re.compile(
    r"^(?P<verdict>PASS|FAIL) (?P<layout>\S+): (?P<operations>\d+) operations, (?P<lives>\d+) lives, "
    r"(?P<differences>\d+) differences, (?P<seconds>[\d.]+) s$"
)


@dataclass(frozen=True)
class LivesOutcome:
    """One layout as compare.py judged it; None: it did not get that far."""

    layout: str
    verdict: str
    operations: int | None = None
    lives: int | None = None
    differences: int | None = None
    fewest_hits: str = ""
    hits: str = ""
    seconds: float | None = None
    reason: str = ""


def share(operations: int) -> int:
    """Operations for each layout, so that all make ``operations`` together and each has enough."""
    return max(min(LEAST_OPERATIONS, operations), -(-operations // len(LAYOUTS)))


def lives_outcome(output: str, layout: str, operations: int, status: int) -> LivesOutcome:
    """compare.py's verdict; anything but a PASS over all operations with status 0 is none."""
    found = [match for match in map(_LINE.match, output.splitlines()) if match]
    skipped = re.search(r"^SKIP \S+: (.*)$", output, re.M)
    if skipped and status == 77 and not found:
        return LivesOutcome(layout, SKIP, reason=skipped.group(1))
    counted = re.search(rf"^hits {layout}: (.*)$", output, re.M)
    if len(found) != 1 or found[0]["layout"] != layout or counted is None:
        return LivesOutcome(layout, FAIL, reason=f"status {status}, no verdict: {tail(output)}")
    line = found[0]
    numbers = (int(line["operations"]), int(line["lives"]), int(line["differences"]))
    hits = re.findall(r"([^,]+?) (\d+)(?:, |$)", counted.group(1))
    least = min((int(count), name) for name, count in hits) if hits else (0, "")
    reason = ""
    if line["verdict"] != PASS or numbers[2] or status != 0:
        # The first difference and the command that repeats it are several lines; one here.
        reason = f"status {status}: {tail(output, 12)}"
    elif numbers[0] < operations:
        reason = f"{operations} operations were asked for"
    fewest = f"{least[1]}: {least[0]}"
    verdict = FAIL if reason else PASS
    return LivesOutcome(layout, verdict, *numbers, fewest, counted.group(1), float(line["seconds"]), reason)


def run(settings: ProofSettings) -> Findings:
    """4KB pages first; then windows, if the huge pages can be had."""
    built("mosalloc", "lives")
    lines = [_compare(settings, LAYOUTS[0])]
    with ExitStack() as held:
        missing = ""
        try:
            held.enter_context(reserve_huge_pages(PAGES_2MB))
        except HugePagesUnavailable as error:
            missing = error.sentence
        for layout in LAYOUTS[1:]:
            lines.append(
                LivesOutcome(layout, SKIP, reason=missing) if missing else _compare(settings, layout)
            )
    checks = [Check(line.layout, line.verdict, line.reason) for line in lines]
    notes = [f"hits under {line.layout}: {line.hits}" for line in lines if line.hits]
    return Findings(checks, _text(lines), [asdict(line) for line in lines], notes)


def _compare(settings: ProofSettings, layout: str) -> LivesOutcome:
    operations = share(settings.operations)
    hits = HITS if operations >= LEAST_OPERATIONS else 0
    script = repo_root() / "artifacts/mosalloc/tests/lives/compare.py"
    argv = ["python3", script, build_dir("mosalloc"), "--layout", layout]
    argv += ["--operations", str(operations), "--min-hits", str(hits)]
    settings.say(f"lives, {layout}, {operations} operations")
    options = replace(OPTIONS, writes=(build_dir("mosalloc"),))
    process = toolchain().popen(
        argv, options=options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    with stopped_at_exit(process), watchdog(process, script.name):
        output = process.communicate()[0]
    line = lives_outcome(output, layout, operations, process.returncode)
    settings.say(f"{line.verdict} lives, {layout}{f': {line.reason}' if line.reason else ''}")
    return line


def _text(lines: list[LivesOutcome]) -> str:
    def shown(value: float | None, form: str) -> str:
        return "-" if value is None else format(value, form)

    heads = ("layout", "operations", "lives", "differences", "fewest hits", "s", "verdict")
    rows = [
        (
            line.layout,
            shown(line.operations, ","),
            shown(line.lives, ",d"),
            shown(line.differences, "d"),
            line.fewest_hits or "-",
            shown(line.seconds, ".1f"),
            line.verdict,
        )
        for line in lines
    ]
    return table_text(heads, rows)


SECTION = Section("lives", "Random lives with and without the library", run)
