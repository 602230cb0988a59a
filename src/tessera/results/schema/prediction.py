"""What ``tessera predict`` writes with ``--out``; no part of a results folder (docs/predict.md)."""

from __future__ import annotations

from tessera.results.schema.table import MESSAGE, PAIR, PROVENANCE, Table, columns

ANSWERS = Table(
    "design_answers", lambda t: t.transfer("design_answers"), "tessera predict", "column",
    "the runtime of a design of the user, with its source and level, or why there is none",
    (*PAIR, *columns("""
    design               text    -       name of the design
    layout               text    -       layout or mapping
    classes              text    -       classes of the study that it falls in
    source               text    -       calibrated, bracket, engine or none
    level                text    -       A to D, or none (docs/predict.md)
    runtime_cycles       number  cycles  R; empty without an answer
    low_cycles           number  cycles  lower end of the interval; empty without one
    high_cycles          number  cycles  upper end
    base_runtime_cycles  number  cycles  R_0: P under the same layout or mapping; empty if it is not known
    change               number  1       R / R_0 - 1
    low_change           number  1       the same of the lower end
    high_change          number  1       the same of the upper end
    codes                text    -       remarks on the answer, or why there is none, separated by spaces
    """), *MESSAGE, *PROVENANCE),
)  # fmt: skip
