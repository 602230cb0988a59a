"""One bundle of a real machine for a notebook: its cells as samples, and the findings that it touches.

Without a bundle, the archived one is read. It is a rehearsal: a fake launcher gave the counts of the
simulator, so its provenance is ``simulated``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.results.loader import Pair as Place
from tessera.core.results.loader import average_repeats, workload_order
from tessera.core.results.tree import ResultsTree
from tessera.report.claims import load_claims
from tessera.report.claims.claim import Claim, value_text
from tessera.report.explore.display import shares
from tessera.report.explore.source import ARCHIVE, CANDIDATES, PairSamples, shown_folder
from tessera.report.figures import style
from tessera.report.figures.measured_machines import (
    Kept,
    machine_rows,
    machines_picture,
    open_kept,
    page_size_rows,
)
from tessera.report.machines.evaluate import FINDING, UNAVAILABLE, judge_results
from tessera.report.machines.groups import in_scope, scope_coverage

REHEARSAL = "REHEARSAL: a fake launcher gave simulated counts; no number here is of a real processor"


@dataclass(frozen=True)
class MyMachine:
    """A bundle, and where it is. ``results``: the run in which it took part, or None."""

    kept: Kept
    where: str
    results: Path | None

    @property
    def workloads(self) -> list[str]:
        return workload_order(self.kept.good["workload"])

    def pair(self, workload: str = "") -> PairSamples:
        """The samples of a workload; the first one if the name is empty.

        Raises:
            TesseraError: no such workload; names those of the bundle.
        """
        if not self.workloads or (workload and workload not in self.workloads):
            raise TesseraError(
                f"{workload or 'any workload'} in {self.where}",
                f"there are {', '.join(self.workloads) or 'none with numbers'}",
                "name one of these",
            )
        name, good = workload or self.workloads[0], average_repeats(self.kept.good)
        samples = good[good["workload"] == name].sort_values("walk_cycles").reset_index(drop=True)
        return PairSamples(
            name, self.kept.bundle.about.platform, samples, ResultsTree(self.results or repo_root())
        )

    def __str__(self) -> str:
        about = self.kept.bundle.about
        lines = [
            f"Data: {self.where}",
            f"{about.platform}: {', '.join(self.workloads)}; counts {self.kept.provenance}",
        ]
        return "\n".join([*([REHEARSAL] if about.rehearsal else []), *lines])


def my_machine(bundle: Path | str = "", results_dir: Path | str = "") -> MyMachine:
    """A bundle by its folder or zip file (relative to the checkout, or absolute).

    Without a name: the first bundle of the results folder, else the archived one; its text says which.

    Raises:
        TesseraError: nothing readable is at this path.
    """
    if str(bundle):
        path = repo_root() / bundle
        return MyMachine(open_kept(path), shown_folder(path), None)
    for name in (*((str(results_dir),) if str(results_dir) else CANDIDATES), ARCHIVE):
        folders = ResultsTree(repo_root() / name).machines.bundles()
        if folders:
            run = None if name == ARCHIVE else repo_root() / name
            return MyMachine(open_kept(folders[0]), shown_folder(folders[0]), run)
    raise TesseraError(f"bundle in {ARCHIVE}", "there is none", "git checkout notebooks/data")


def sizes(machine: MyMachine) -> pd.DataFrame:
    """Of each workload: R and C with 4KB pages (cycles), C / R, and what larger pages save of R."""
    table = pd.DataFrame(page_size_rows(machine.kept)).set_index("workload").rename_axis(None)
    table[["share", "saved_2mb", "saved_1gb"]] = shares(table[["share", "saved_2mb", "saved_1gb"]])
    words = {
        "R": "R, 4KB",
        "C": "C, 4KB",
        "share": "C / R",
        "saved_2mb": "2MB saves",
        "saved_1gb": "1GB saves",
    }
    return table[["layouts", *words]].rename(columns=words)


def draw_machine(machine: MyMachine):
    """R against C, a panel for each workload."""
    with style.context():
        return machines_picture(
            machine_rows(machine.kept), f"R against C on {machine.kept.bundle.about.platform}"
        )


def touched(machine: MyMachine) -> pd.DataFrame:
    """Findings about this class with a workload of this bundle, and the part of their pairs that it covers.

    This is no verdict: ``tessera measure bundle judge`` and ``./run reproduce --bundle`` judge.
    """
    rows = [
        (claim.id, claim.statement, covered, value_text(claim.published), claim.unit)
        for claim in load_claims()
        if claim.kind == FINDING
        and claim.hardware_class != "any"
        and claim.evaluator != UNAVAILABLE
        and (covered := _covered(claim, machine))
    ]
    columns = ["finding", "statement", "pairs", "published", "unit"]
    return pd.DataFrame(rows, columns=columns).set_index("finding").rename_axis(None)


def _covered(claim: Claim, machine: MyMachine) -> str:
    """``1 of 3``; empty if the finding is about other classes or workloads."""
    platform = machine.kept.bundle.about.platform
    mine = in_scope(claim, [Place(name, platform) for name in machine.workloads])
    if not mine:
        return ""
    found = scope_coverage(claim, mine)
    return f"{found.here}, no list of workloads" if found.whole is None else f"{found.here} of {found.whole}"


def decided(machine: MyMachine) -> pd.DataFrame | str:
    """What machines decided in the run in which this bundle took part; a sentence if that is nothing."""
    if machine.kept.bars:
        return "It decides no claim: " + "; ".join(machine.kept.bars)
    if machine.results is None:
        return "It took part in no run. To judge: ./run tessera measure bundle judge BUNDLE --out judged"
    judged = judge_results(machine.results)
    statements = dict(zip(judged.claims["id"], judged.claims["statement"], strict=True))
    verdicts = dict(zip(judged.claims["id"], judged.claims["verdict"], strict=True))
    rows = [
        (name, statements[name], str(one.outcome), one.word, verdicts[name])
        for name, groups in judged.measured.items()
        for one in groups
        if one.decides and machine.kept.bundle.about.platform in one.group.machines
    ]
    columns = ["finding", "statement", "obtained", "on this machine", "verdict"]
    return pd.DataFrame(rows, columns=columns).set_index("finding").rename_axis(None)
