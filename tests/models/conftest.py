"""A samples table with all that a table may have, and a fit of it, for the tests of the command."""

import pandas as pd
import pytest

from .builders import make_frame, noisy
from .command import run


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    frame = make_frame(noisy())
    frame["layout"] = frame["layout"].replace({"growing-0": "4kb", "growing-8": "2mb"})
    extra = {"layout": "1gb", "runtime_cycles": 5.1e9, "stlb_hits": 3, "stlb_misses": 2}
    frame = pd.concat([frame, pd.DataFrame([extra | {"walk_cycles": 70}])], ignore_index=True)
    return frame.assign(workload="gups", comment='with, comma and "quotes"')


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table):
    root = tmp_path_factory.mktemp("fit")
    table.to_csv(root / "samples.csv", index=False)
    run("fit", "--samples", root / "samples.csv", "--out", root / "gups" / "haswell-sim")
    return root / "gups" / "haswell-sim"
