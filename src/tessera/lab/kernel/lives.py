"""Random lives of page tables: the same operations without and with replicas leave the same memory.

``lives`` (``artifacts/kernel/lives``) performs a sequence of operations that is a function of the seed, and
prints what its memory holds and what the kernel says of its pages. In one boot, ``lives-compare`` runs each
seed without replicas and with them; all must print the same lines. The lives without replicas run on the
unpatched kernel, too.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.results.kernel_tables import LIVES
from tessera.core.results.table_io import frame_of
from tessera.lab.kernel import image
from tessera.lab.kernel.guest import GuestRun, run_in_guest, script_failed
from tessera.lab.kernel.qemu import EmulatedMachine
from tessera.lab.study import Count, Run, Seed, printed, study

#: Share of the time that the unpatched kernel gets: it runs one life where the other runs four.
UNPATCHED_SHARE = 0.2
#: Of lives-compare: with the unpatched kernel, lives without replicas only.
UNPATCHED = "unpatched"
#: Outcomes of a life that are a difference.
DIFFERENCES = ("contents", "entries", "bits")

COMPARED = "lives-compare {seconds} {seed} {operations}\nstatus=$?\n{report}[ $status = 0 ]\n"
#: Replicas must be gone at the end; the checker ran for every other seed.
REPORT = "awk '$1 == \"differences\" && $2 != 0' /sys/kernel/debug/pgtable_replication/stats\n"


@dataclass
class ModeCount:
    """Lives of one mode.

    Attributes:
        operations: of all lives together, and of their children.
        disturbed: lives with other lines, in which the kernel had to reclaim memory or had no huge page.
        differences: a line each.
    """

    lives: int = 0
    operations: int = 0
    disturbed: int = 0
    differences: list[str] = field(default_factory=list)


def count_lives(text: str, operations: int, seeds: Collection[int] | None = None) -> dict[str, ModeCount]:
    """Count the lines of ``lives-compare`` by mode.

    Args:
        text: output of ``lives-compare``.
        operations: of each life, for the command that repeats it.
        seeds: count only these; None: all.
    """
    counts: dict[str, ModeCount] = {}
    for seed, mode, outcome, done in re.findall(r"^life (\d+) (\w+) (\w+) (\d*)", text, re.MULTILINE):
        if seeds is not None and int(seed) not in seeds:
            continue
        count = counts.setdefault(mode, ModeCount())
        count.lives += 1
        count.operations += int(done or 0)
        count.disturbed += outcome == "disturbed"
        if outcome in DIFFERENCES:
            count.differences.append(
                f"seed {seed}, {mode}: {outcome} differ: lives {seed} {operations} {mode}"
            )
    return counts


def plain_lives(path: Path) -> dict[int, list[str]]:
    """Seed -> lines of its life without replicas, but for those that only a patched kernel has."""
    lives: dict[int, list[str]] = {}
    lines: list[str] = []
    if not path.exists():
        return lives
    for line in gzip.decompress(path.read_bytes()).decode(errors="replace").splitlines():
        begin = re.match(r"life of seed (\d+):", line)
        if begin:
            lines = lives[int(begin[1])] = []
        elif not line.startswith("bits "):
            lines.append(line)
    return lives


def compare_plain(patched: Mapping[int, list[str]], unpatched: Mapping[int, list[str]]) -> list[str]:
    """Differences between the kernels: for each seed that both ran, its first line that differs."""
    found = []
    for seed in sorted(set(patched) & set(unpatched)):
        operation = "start"
        for one, other in zip_longest(patched[seed], unpatched[seed], fillvalue=""):
            if one != other:
                found.append(f"seed {seed}, {UNPATCHED}: after {operation}: '{one}' there '{other}'")
                break
            operation = one if one.startswith("op ") else operation
    return found


@study(LIVES, show=printed())
def lives(
    run: Run,
    seconds: Count = 120,
    operations: Count = 100,
    seed: Seed = 1,
    unpatched: bool = True,
    accept_series: bool = False,
) -> pd.DataFrame:
    """Run random lives of page tables without and with replicas: contents, entries and bits must be the same.

    The exit status is 1 after a difference; a line names the seed and the fewest operations that show it.

    Example: ./run tessera lab run kernel-lives seconds=3600 --out build/kernel/lives

    Args:
        seconds: duration of all lives, without the boots of the two kernels.
        operations: of each life; its children have up to 6 each on top.
        seed: of the first life; the next ones follow.
        unpatched: run the lives without replicas on the unpatched kernel, too, in a fifth of the time.
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: a kernel cannot be built, QEMU failed, or no life was compared.
    """
    apart = UNPATCHED_SHARE if unpatched else 0
    shares = {"checked": seconds * (1 - apart)} | ({"plain": seconds * apart} if unpatched else {})
    done = {}
    for variant, share in shares.items():
        run.say(f"random lives on the kernel {variant} for {share:.0f} s")
        done[variant] = run_in_guest(
            image.kernel_tools(run.say),
            image.guest_program(variant, run.say, accept_series=accept_series),
            COMPARED.format(
                seconds=round(share), seed=seed, operations=operations, report=REPORT * (variant == "checked")
            ),
            run.folder / variant,
            machine=EmulatedMachine(),
            timeout_seconds=300 + 3 * share,
        )
    counts = count_lives(done["checked"].text("stdout"), operations)
    if not counts.get("replicated", ModeCount()).lives:
        raise script_failed("random lives", done["checked"])
    if unpatched:
        plain = [plain_lives(done[variant].folder / "plain.gz") for variant in shares]
        both = set(plain[0]) & set(plain[1])
        alone = count_lives(done["plain"].text("stdout"), operations, both).get("plain", ModeCount())
        alone.differences += compare_plain(*plain)
        counts[UNPATCHED] = alone
    for count in counts.values():
        run.wrong.extend(count.differences)
    run.wrong.extend(_complaints(done))
    return frame_of(
        LIVES,
        [
            (mode, count.lives, count.operations, count.disturbed, len(count.differences), "measured")
            for mode, count in counts.items()
        ],
    )


def _complaints(done: Mapping[str, GuestRun]) -> list[str]:
    """What the kernels say, the checker's count of differences, and how to repeat differing lives."""
    found = []
    for variant, run in done.items():
        found += [f"{variant}: kernel: {line}" for line in run.warnings[:5]]
        found += re.findall(r"^(?:reproduce: .*|differences \d+)$", run.text("stdout"), re.MULTILINE)
        if run.status not in (0, 1) or (run.status and "life " not in run.text("stdout")):
            raise TesseraError(
                f"random lives on the kernel {variant}",
                f"the script ended with status {run.status}: {run.text('stderr')[-300:]}",
                f"read the files of {run.folder}",
            )
    return found
