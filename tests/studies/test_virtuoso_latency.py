"""Latencies of simulated faults: runs, quantiles and combs of series that are known by construction."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from tessera.lab.faults.kinds import BATCH, TABLE
from tessera.lab.faults.virtuoso import ALL, LEAST_RUN, consecutive_runs, quantile_rows, simulated_comb_rows


def faults(pages, cycles, kind="write-4kb"):
    return pd.DataFrame({"kind": kind, "page": pages, "cycles": cycles})


def with_teeth(count, first=0):
    """A table each 512 pages, a batch each 31 faults."""
    numbers = np.arange(count)
    return 3000 + 9000 * ((numbers + first) % BATCH.period == 5) + 4000 * (numbers % TABLE.period == 0)


def test_runs_begin_at_a_page_table_and_have_one():
    pages = np.concatenate([np.arange(100, 1600), np.arange(4096, 4096 + 511), np.arange(9216, 9216 + 600)])
    found = consecutive_runs(faults(pages, pages))
    assert [(one[0], one[-1]) for one in found] == [(512, 1599), (9216, 9815)]
    assert (
        consecutive_runs(faults([], [])) == []
        and consecutive_runs(faults(np.arange(100), np.arange(100))) == []
    )


def test_combs_of_a_program_that_touches_memory_in_two_parts():
    pages = np.concatenate([np.arange(8192, 8192 + 2048), np.arange(65536, 65536 + 1024)])
    rows = simulated_comb_rows(faults(pages, np.concatenate([with_teeth(2048), with_teeth(1024, first=7)])))
    table, batch = rows
    assert (table["reason"], table["asked"], table["hits"]) == (TABLE.reason, 6, 6)
    assert table["extra_cycles"] == 4000 and table["runs"] == 2 and table["faults"] == 3072
    assert batch["extra_cycles"] == 9000 and batch["hits"] / batch["asked"] > 0.8 > 10 * batch["chance"]


def test_a_program_without_runs_or_of_other_kinds_has_no_comb():
    rng = np.random.default_rng(1)
    assert simulated_comb_rows(faults(rng.permutation(5000), np.full(5000, 3000))) == []
    assert simulated_comb_rows(faults(np.arange(2048), with_teeth(2048), kind="read-file")) == []
    (only,) = simulated_comb_rows(faults(np.arange(2048), np.full(2048, 3000), kind="read-zero"))
    (copies,) = simulated_comb_rows(faults(np.arange(2048), with_teeth(2048), kind="write-zero"))
    assert copies["reason"] == BATCH.reason and copies["hits"] > 50
    assert only["hits"] == 0 and math.isnan(only["extra_cycles"]) and only["asked"] == 2048 // LEAST_RUN


def test_quantiles_by_kind_and_the_time_of_slower_faults():
    rows = pd.concat([faults(0, [1000] * 98), faults(0, [50_000, 90_000], kind="write-2mb")])
    found = pd.DataFrame(quantile_rows(rows, 2e9)).set_index(["kind", "share"])
    assert list(dict.fromkeys(kind for kind, _ in found.index)) == [ALL, "write-2mb", "write-4kb"]
    assert found.loc[(ALL, 0.5), "cycles"] == 1000 and found.loc[(ALL, 0.99), "cycles"] == 50_000
    assert found.loc[(ALL, 0.5), "us"] == 0.5
    assert found.loc[(ALL, 0.5), "time_above"] == pytest.approx(140_000 / 238_000)
    assert found.loc[(ALL, 0.99), "time_above"] == pytest.approx(90_000 / 238_000)
    assert found.loc[("write-4kb", 0.999), "time_above"] == 0
    assert pd.DataFrame(quantile_rows(rows, None))["us"].isna().all()
    assert quantile_rows(rows[:0], 2e9) == []
