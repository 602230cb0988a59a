"""Real machines: bundles with their conditions, R against C, errors of models, and the findings they decide.

Without a bundle, the page names the command that measures one, and what it would decide.
"""

from __future__ import annotations

from collections import Counter

from tessera.bundles.show import summary
from tessera.judge.claims import load_claims
from tessera.judge.claims.model import Claim
from tessera.judge.claims.verdicts import UNDECIDED
from tessera.judge.machines.prospects import UNAVAILABLE
from tessera.machine.environment.condition import barring
from tessera.results.pair import GENERATIONS, Pair
from tessera.results.tree import Tree
from tessera.show.figures import looks
from tessera.show.figures.machines import COMMAND
from tessera.show.figures.machines_kept import Kept, kept, page_sizes
from tessera.show.report.claims import shown
from tessera.show.results import Results
from tessera.show.verdicts import ELSEWHERE, STRONG

WHOLE_METHOD = "all"  #: the protocol whose errors are of the layouts that models are fitted to
ANY_INTEL = "intel-pmu"


def page(facts) -> dict:
    bundles = kept(facts.results.directory)
    return {
        "title": "Machines",
        "bundles": [_bundle(one) for one in bundles],
        "machines_figure": facts.figure("machines"),
        "errors": errors(facts),
        "decided": decided(facts),
        "elsewhere": _elsewhere(facts),
        "elsewhere_words": ELSEWHERE,
        "measure_command": COMMAND,
        "decidable": decidable(facts),
    }


def _bundle(one: Kept) -> dict:
    barred = {condition.check for condition in barring(one.bundle.environment)}
    return {
        "id": one.identity,
        "machine": one.bundle.about.platform,
        "provenance": one.provenance,
        "rehearsal": one.bundle.about.rehearsal,
        "about": [row for row in summary(one.bundle) if row[0] != "workload"],
        "bars": one.bars,
        "conditions": [{"bars": c.check in barred, "row": c} for c in one.bundle.environment],
        "workloads": page_sizes(one),
    }


def errors(facts) -> list[dict]:
    """Errors of each model on measured cells, beside simulated ones of the same workload and class.

    Errors are relative, as fractions, of models fitted to all layouts but 1gb and tested on these.
    """
    folder = Tree(facts.results.directory).machines.root
    if not folder.is_dir():
        return []
    measured, simulated = (_errors(one) for one in (Results(folder), facts.results))
    rows = []
    for pair in sorted({pair for pair, _ in measured}):
        for model in looks.ordered([name for one, name in measured if one == pair]):
            beside = {
                other.platform: found
                for (other, name), found in simulated.items()
                if name == model and other.workload == pair.workload and other.generation == pair.generation
            }
            mine = measured[pair, model]
            rows.append({
                "machine": pair.platform, "workload": pair.workload, "label": looks.look(model).label,
                "max_error": mine["max_error"], "geomean_error": mine["geomean_error"], "simulated": beside,
            })  # fmt: skip
    return rows


def _errors(results: Results) -> dict[tuple[Pair, str], dict]:
    table = results.models("errors", analysed=False)
    table = table[table["protocol"] == WHOLE_METHOD]
    return {(Pair(row["workload"], row["platform"]), row["model"]): row for row in table.to_dict("records")}


def decided(facts) -> list[dict]:
    """Findings that machines decided: the claim's row, and what each group of machines gave."""
    rows = []
    for claim in facts.claims.to_dict("records"):
        groups = [one for one in facts.measured.get(claim["id"], ()) if one.decides]
        if not groups or claim["verdict"] not in (*STRONG, UNDECIDED):
            continue
        rows.append(shown(claim) | {"groups": [
            {"machines": str(one.group), "word": one.word, "obtained": str(one.outcome),
             "coverage": "" if one.group.whole else one.group.coverage}
            for one in groups
        ]})  # fmt: skip
    return rows


def _elsewhere(facts) -> list[dict]:
    table = facts.elsewhere.rename(columns={"class": "class_name"})
    statements = dict(zip(facts.claims["id"], facts.claims["statement"], strict=True))
    return [row | {"statement": statements.get(row["id"], "")} for row in table.to_dict("records")]


def decidable(facts) -> list[dict]:
    """Findings about processors that no measurement decided, counted by the machines that they need.

    A machine that covers a part of such a finding may decide it one way (docs/bundles.md).
    """
    verdicts = dict(zip(facts.claims["id"], facts.claims["verdict"], strict=True))
    waiting = [claim for claim in load_claims() if verdicts.get(claim.id, STRONG[0]) not in STRONG]
    counts = Counter(found for claim in waiting if (found := _needs(claim)))
    return [{"machines": " + ".join(names), "findings": counts[names]} for names in _by_number(counts)]


def _needs(claim: Claim) -> tuple[str, ...]:
    """Classes of the machines that decide a finding; empty if none with counters does."""
    if claim.kind != "finding" or claim.evaluator == UNAVAILABLE:
        return ()
    if claim.hardware_class not in (ANY_INTEL, *GENERATIONS):
        return ()
    if claim.scope.platforms:
        return claim.scope.platforms
    return ("any Intel processor" if claim.hardware_class == ANY_INTEL else claim.hardware_class,)


def _by_number(counts: Counter) -> list[tuple[str, ...]]:
    """Few machines first, then what is decided most."""
    return sorted(counts, key=lambda names: (len(names), -counts[names], names))
