"""``tessera predict-design`` from Python: the answer as a pandas data frame."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.fit.predict.design import read_design
from tessera.judge.studies.transfer.answer import answer_counts, answer_design
from tessera.judge.studies.transfer.declared import COUNTED
from tessera.judge.studies.transfer.own_design import OwnDesign, of_tree, read_own


def predict_design(
    design: str | Path | Mapping | OwnDesign | pd.DataFrame,
    workload: str,
    platform: str,
    results: str | Path = "results/default",
    *,
    group: str | None = None,
    inputs: str = COUNTED,
    cache: str | Path | None = None,
) -> pd.DataFrame:
    """The runtime of a design in cycles, with its source; a row per design (docs/transfer.md, Answers).

    Args:
        design: a YAML file or a mapping with ``name, changes, mapping, layout``, which is simulated; or a
            data frame of counts of another simulator with ``stlb_hits, stlb_misses, walk_cycles``.
        group: class of given counts, K0 to K5.
        inputs: what H and C of given counts count.
        cache: folder of finished simulations; None: nothing is kept.

    Returns:
        The answers. ``attrs["models"]`` is a data frame of what each model says.

    Raises:
        TesseraError: the study lacks the pair or the class, the simulator rejects the design, or counts
            have no class.
    """
    if isinstance(design, pd.DataFrame):
        if group is None:
            raise TesseraError(
                "tessera.predict_design of counts", "no class is given", "give, for example: group='K1'",
                code="counts-without-class",
            )  # fmt: skip
        found = answer_counts(Path(results), read_design(design), workload, platform, group, inputs)
    else:
        if isinstance(design, Mapping):
            design = of_tree(dict(design), "given in Python", "design")
        elif not isinstance(design, OwnDesign):
            design = read_own(Path(design))
        kept = None if cache is None else Path(cache)
        found = answer_design(Path(results), design, workload, platform, kept)
    found.answers.attrs["models"] = found.asked
    return found.answers
