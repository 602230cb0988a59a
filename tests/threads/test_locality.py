"""The fit of a and w, sizes of L3, and the table of a sweep (the simulator itself: test_sweep_simulated)."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.results.study_tables import THREADS_SWEEP
from tessera.lab.energy import l3_sweep
from tessera.lab.energy.l3_sweep import Locality, fit_locality
from tessera.lab.study import Inputs
from tessera.simulate.runner import CellCache

SIZES = 30 * 2**20 / np.arange(1, 25)


@pytest.mark.parametrize(("a", "w"), [(1.3, 4096.0), (2.0, 1 << 20), (4.5, 64 << 20)])
def test_the_fit_recovers_exact_rates(a, w):
    found = fit_locality(SIZES, Locality(a, w).hit_rate(SIZES))
    assert found.exponent == pytest.approx(a, rel=1e-6) and found.bytes == pytest.approx(w, rel=1e-5)
    assert found.rms < 1e-9


@pytest.mark.parametrize("rates", [np.ones(3), [0.5, 1.0, 1.0]])
def test_too_few_sizes_that_miss(rates):
    with pytest.raises(TesseraError) as caught:
        fit_locality(SIZES[:3], rates)
    assert caught.value.code == "too-few-sizes"


@pytest.mark.parametrize("name", ["sandybridge-sim", "haswell-sim", "broadwell-sim"])
def test_sizes_are_whole_sets_of_every_slice(name):
    platform = platforms.load_platform(name)
    values = {key: platform.values[key].value for key in (l3_sweep.L3, l3_sweep.WAYS, l3_sweep.SLICES)}
    for threads in range(1, 25):
        size = l3_sweep.l3_bytes(platform, threads)
        assert size % (values[l3_sweep.WAYS] * 64 * max(1, values[l3_sweep.SLICES])) == 0
        assert size == pytest.approx(values[l3_sweep.L3] / threads, rel=0.01)
    assert l3_sweep.smaller_l3(platform, 1) == platform
    assert l3_sweep.smaller_l3(platform, 2).values[l3_sweep.L3].value == l3_sweep.l3_bytes(platform, 2)


@pytest.mark.parametrize(("text", "numbers"), [("1-4", [1, 2, 3, 4]), ("8, 1,2-3", [1, 2, 3, 8]), ("5", [5])])
def test_threads_in_words(text, numbers):
    assert l3_sweep.parse_threads(text) == numbers


@pytest.mark.parametrize("text", ["", "0", "4-1", "1-", "-3", "1,,2", "one", "1-5000", "\u0661"])
def test_threads_refused(text):
    with pytest.raises(TesseraError, match=re.escape(f"threads {text}")):
        l3_sweep.parse_threads(text)


def test_a_row_has_the_rate_of_the_cell(monkeypatch, tmp_path):
    """P = 1 - DRAM loads / memory instructions, of a sampled fourth; a refused size has its reason."""

    def cells(inputs, threads):
        for n in threads:
            good = {
                "status": "ok",
                "message": "",
                "accesses": 4000,
                "program_l1d_loads": 1000,
                "program_dram_loads": 10 * n,
                "walker_dram_loads": 7,
            }
            yield [good if n < 4 else {"status": "failed", "message": "no such L3"}]

    monkeypatch.setattr(l3_sweep, "_cells", cells)
    platform = platforms.load_platform("haswell-sim")
    table = l3_sweep.l3_sweep_table(Inputs("w", tmp_path, platform, (), CellCache(None)), [1, 2, 4])
    assert tuple(table.columns) == THREADS_SWEEP.names
    assert table["hit_rate"].tolist()[:2] == pytest.approx([0.99, 0.98])
    assert table["fitted_hit_rate"].tolist()[:2] == pytest.approx([0.99, 0.98], abs=1e-6)
    assert table.loc[2, "status"] == "failed" and table.loc[2, "message"] == "no such L3"
