"""``--write dram-rows``: what loads found in the row buffers of memory."""

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.simulate import simulate as command
from tessera.core.errors import TesseraError
from tessera.core.files import build_dir
from tessera.core.results.table_io import read_cells
from tessera.simulate.simulator import DRAM_ROW_COLUMNS
from tests.in_process import tessera

ROWS = "dram.channels=1 dram.banks=2 dram.row_bytes=128 dram.bank_busy_cycles=8 dram.queues_walks=1".split()


@pytest.mark.parametrize("words", [["--engine", "partial"], ["--sampling", "tlbs"]])
def test_nothing_is_counted_where_nothing_is_timed(words):
    rest = ["--write", "dram-rows=/tmp/rows.csv", "--layouts", "x", "--out", "/tmp/o.csv", *words]
    done = CliRunner().invoke(command, ["--trace", "t.tst", "--platform", "haswell-sim", *rest])
    assert isinstance(done.exception, TesseraError)
    assert "--write dram-rows" in str(done.exception) and words[1] in str(done.exception)


@pytest.mark.toolchain
def test_each_load_from_memory_is_in_the_table(root, tmp_path):
    if not (build_dir("simulator") / "tessera-sim").exists():
        pytest.skip("build/simulator/tessera-sim is missing: ./run tessera dev build simulator")
    trace = root / "tests" / "traces" / "examples" / "phases.tst"

    def rows(name, *words):
        out = tmp_path / f"rows-{name}.csv"
        done = tessera(
            "simulate", "--trace", trace, "--platform", "haswell-sim", "--layouts",
            root / "examples" / "all-4kb.csv", "--sampling", "full", "--out", tmp_path / f"{name}.csv",
            "--cache", tmp_path / "cache", "--write", f"dram-rows={out}", *words,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return pd.read_csv(out), read_cells(tmp_path / f"{name}.csv").iloc[0]

    sets = [word for value in ROWS for word in ("--set", value)]
    timing, cell = rows("timing", *sets)
    reference, _ = rows("reference", *sets, "--engine", "reference")
    assert timing.equals(reference)
    assert list(timing.columns) == ["platform", *DRAM_ROW_COLUMNS]
    loads = timing.set_index("kind")[["hits", "closed", "conflicts"]].sum(axis=1)
    assert list(loads.index) == ["program", "walk", "prefetch"]
    assert loads["program"] == cell.program_dram_loads > 0
    assert timing.equals(rows("timing", *sets)[0])  # from the cache

    each, _ = rows("each", *sets, "--each", "cache.l2.replacement=lru,srrip")
    assert list(each["cache.l2.replacement"].unique()) == ["lru", "srrip"]
    assert each[each["cache.l2.replacement"] == "lru"].hits.tolist() == timing.hits.tolist()
