"""Threads and energy: E8 of the cells under swept constants, the model of threads, Table 7, sweeps of L3."""

from __future__ import annotations

from tessera.core.errors import TesseraError
from tessera.energy import machines, power, savings, sentences
from tessera.reference import tables
from tessera.results.schema.energy import SAVINGS, THREADS_SWEEP
from tessera.results.status import ok_rows, other_rows

PRINTED = "opera_table7"
#: claims about threads and energy, by the beginnings of their names
CLAIMS = ("opera-threads-", "opera-energy-", "tessera-threads-")


def page(facts) -> dict:
    saved = facts.results.read(SAVINGS)
    swept = facts.results.read(THREADS_SWEEP, expected=False)
    return {
        "title": "Threads and energy",
        "figure": facts.figure("energy"),
        "efficiency": facts.figure("opera-fig11"),
        "misses": facts.figure("opera-fig12"),
        "sentences": sentences.sentences(saved),
        "sets": sentences.by_constants(saved),
        "pairs": savings.baseline(saved).to_dict("records") if len(saved) else [],
        "constants": _constants(),
        "machines": _machines(),
        "printed": _printed(facts.reference),
        "claims": _claims(facts),
        "sweep": ok_rows(swept).to_dict("records") if len(swept) else [],
        "fits": ok_rows(swept).drop_duplicates(["workload", "platform"]).to_dict("records"),
        "failed": other_rows(swept).to_dict("records") if len(swept) else [],
    }


def _constants() -> list[dict]:
    given = power.read(power.default())
    return [
        {"key": key, "value": f"{leaf.value:g}", "source": leaf.source} for key, leaf in given.values.items()
    ]


def _machines() -> list[dict]:
    loaded = [machines.load(name) for name in machines.names()]
    return [
        {
            "machine": one.name,
            "key": key,
            "value": f"{leaf.value:g}",
            "source": leaf.source,
            "assumed": leaf.assumed,
        }
        for one in loaded
        for key, leaf in one.values.items()
    ]


def _printed(reference) -> list[dict]:
    try:
        found = tables.load(PRINTED, reference)
    except TesseraError:
        return []
    return found[found["note"] != ""].to_dict("records")


def _claims(facts) -> list[dict]:
    rows = facts.claims.to_dict("records")
    return [row for row in rows if row["id"].startswith(CLAIMS)]
