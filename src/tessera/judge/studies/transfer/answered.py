"""What the source `bracket` answers for each point: from P's samples, and H and C of the design alone.

P is fitted by the samples of the study. The base is P under the same layout or mapping: its own R, H and C.
The design has H by `latency`, C by `busy`, its number of walkers, and the longer look-ups of its misses. The
bracket never sees R of a design. Classes that change the clock or the place of translation, and `ideal`, are
refused, whatever it would say: it knows only what H, M and C tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.fit.models.answers import Answer, Reason, Refused
from tessera.fit.models.bracket import SOURCE, Base, Bracket, Design
from tessera.fit.models.samples import check_table
from tessera.judge.studies.transfer import rules
from tessera.judge.studies.transfer.declared import BUSY, LATENCY
from tessera.judge.studies.transfer.openness import ANSWERED, REFUSED
from tessera.results.status import is_ok

#: Classes that the bracket may answer: they keep the clock.
ASKED = ("K0", "K1", "K2", "K4")
POINT = ("group", "variant", "family", "layout")


def fit(samples: Iterable[Mapping], hit_cycles: float) -> Bracket | Reason:
    """The bracket of one workload's rows of :data:`~tessera.results.schema.transfer.SAMPLES`, or why not.

    Args:
        hit_cycles: hit time of P's STLB.
    """
    table = pd.DataFrame([row for row in samples if row["fitted"]])
    try:
        return Bracket.fit(check_table(table, "study of transfer").fitted, hit_cycles=hit_cycles)
    except TesseraError as error:
        return Reason(error.code or "no-fit", f"{error.asked}: {error.found}")


def answer_rows(samples: Sequence[Mapping], points: Sequence[Mapping], hit_cycles: float) -> list[dict]:
    """Rows of the table ANSWERED of one workload and platform, without the pair.

    Args:
        samples: rows of :data:`~tessera.results.schema.transfer.SAMPLES`, fitted or not: the bases.
        points: rows of :data:`~tessera.results.schema.transfer.POINTS`; those that are not ok are left out.
        hit_cycles: hit time of P's STLB.
    """
    bracket = fit(samples, hit_cycles)
    counts = ("runtime_cycles", "stlb_hits", "walk_cycles")
    bases = {row["layout"]: Base(*(row[name] for name in counts)) for row in samples}
    by_input: dict[tuple, dict] = {}
    for row in points:
        if is_ok(row):
            by_input.setdefault(tuple(row[name] for name in POINT), {})[row["inputs"]] = row
    found = []
    for key, rows in by_input.items():
        hits, walks = rows[LATENCY], rows[BUSY]
        design = Design(hits["stlb_hits"], walks["walk_cycles"], int(walks["walkers"]), walks["miss_cycles"])
        said = bracket if isinstance(bracket, Reason) else bracket.answer(bases[hits["layout"]], design)
        found.append(dict(zip(POINT, key, strict=True)) | _row(hits, refused(hits["group"], said)))
    return found


def refused(group: str, said: Answer | Refused | Reason) -> Answer | Refused:
    """What counts: the answer, unless the class is not the bracket's, or there is no bracket."""
    reasons = ()
    if group not in ASKED:
        reasons = (Reason("class", f"class {group} changes what H, M and C do not tell"),)
    if isinstance(said, Reason):
        return Refused(SOURCE, (*reasons, said))
    if isinstance(said, Refused):
        return Refused(SOURCE, (*reasons, *said.reasons), said.low, said.high)
    return Refused(SOURCE, reasons, said.low, said.high) if reasons else said


def _row(point: Mapping, said: Answer | Refused) -> dict:
    R, R_0 = point["runtime_cycles"], point["base_runtime_cycles"]
    row = {
        "source": SOURCE, "low_cycles": said.low, "high_cycles": said.high, "runtime_cycles": R,
        "base_runtime_cycles": R_0, "judged": point["judged"], "informative": point["informative"],
        "constant_passes": rules.constant_passes(R_0, R),
    }  # fmt: skip
    if isinstance(said, Refused):
        text = "; ".join(reason.text for reason in said.reasons)
        return row | {"status": REFUSED, "codes": " ".join(said.codes), "message": text}
    return row | {
        "status": ANSWERED, "centre_cycles": said.centre, "half_width": said.half_width,
        "covered": bool(said.low <= R <= said.high), "passes": _passes(R_0, R, said.centre),
    }  # fmt: skip


def _passes(base: float, runtime: float, predicted: float) -> bool:
    """S1, and S2 where it applies."""
    gain = rules.gain_holds(base, runtime, predicted)
    return rules.passes(rules.bound_holds(runtime, predicted), gain)
