"""Claims as `tessera.judge.claims.evaluate` returns them: one of each verdict, allowed by its provenance."""

from __future__ import annotations

import pandas as pd

from tessera.results.schema.shown import CLAIMS

EXPLANATION = "The caches here are smaller."
_ROWS = [
    (
        "mosmodel-features",
        "micro20",
        "VII-C",
        "A third-degree polynomial in three variables has 19 terms beside the intercept",
        "arithmetic",
        19,
        19,
        "",
        "equal",
        "REPRODUCED",
        "",
        "",
        "",
        "published",
        "",
        True,
        "",
    ),
    (
        "opera-overhead",
        "opera-d5.10",
        "2.3",
        "Printed overheads follow from printed runtimes",
        "arithmetic",
        1.0,
        1.2,
        "%",
        "rounding",
        "DEVIATES",
        "off by more than rounding allows",
        "",
        "",
        "published",
        "",
        False,
        "",
    ),
    (
        "mosmodel-max",
        "micro20",
        "VII",
        "Mosmodel's largest error is below 3% for every workload and machine",
        "finding",
        "below 3",
        1.12,
        "%",
        "at most 3",
        "HOLDS-IN-SIMULATION",
        "",
        "all layouts, first method",
        "9 pairs",
        "simulated",
        "Xeon E5-2420",
        False,
        "fig2",
    ),
    (
        "xalancbmk-slope",
        "micro20",
        "VII-A",
        "The slope of runtime against walk cycles can exceed 1",
        "finding",
        "above 1",
        0.69,
        "",
        "greater than 1",
        "FAILS-IN-SIMULATION",
        "largest slope is gups on haswell-sim",
        "poly1",
        "9 pairs",
        "simulated",
        "Xeon E7-8890 v4",
        False,
        "fig9",
    ),
    (
        "broadwell-runtime",
        "micro20",
        "VII-A",
        "Runtime of xalancbmk with 4KB pages",
        "finding",
        1320,
        None,
        "billion cycles",
        "5%",
        "NOT-MEASURABLE-HERE",
        "no PMU on this machine; on one that has it: ./run measure",
        "",
        "",
        "",
        "Xeon E7-8890 v4",
        False,
        "table7",
    ),
]


def claims() -> pd.DataFrame:
    """Five claims, one per verdict; the one that fails is explained."""
    table = pd.DataFrame(
        _ROWS, columns=[name for name in CLAIMS.names if name not in ("explanation", "depends_on")]
    )
    fails = table["verdict"] == "FAILS-IN-SIMULATION"
    return table.assign(explanation=fails.map({True: EXPLANATION, False: ""}), depends_on="")
