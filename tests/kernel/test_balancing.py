"""A process that moved to another socket: its table, from what a guest showed (data/balancing)."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.results.kernel_tables import BALANCING
from tessera.lab.kernel import page_tables
from tessera.lab.kernel.page_tables import Level, Tree
from tessera.lab.kernel.placement_experiments import (
    MOMENTS,
    Moment,
    balancing_table,
    moment_lines,
    ranges_of_moved_tables,
    table_addresses,
    unlike_replicas,
)

DATA = Path(__file__).parent / "data" / "balancing"
WAIT_STOPPED = repo_root() / "artifacts" / "kernel" / "guest" / "tools" / "wait-stopped"


@pytest.fixture
def moments():
    """What a guest with four nodes showed, for 16 MB."""
    said = moment_lines((DATA / "program").read_text())
    tables = pd.read_csv(DATA / "tables.csv", converters={2: lambda v: int(v, 0), 3: lambda v: int(v, 0)})
    return {
        name: Moment(
            said[name],
            page_tables.placement_of_dump((DATA / f"dump-{name}").read_text()),
            {(level, first): physical for _, level, first, physical in seen.itertuples(index=False)},
        )
        for name, seen in tables.groupby("moment", sort=False)
    }


def changed(moments, name, **changes):
    now = moments[name]
    values = {"said": now.said, "rows": now.rows, "tables": now.tables} | changes
    return moments | {name: Moment(**values)}


def test_data_follow_the_process_and_tables_stay(moments):
    found = balancing_table(moments).set_index("moment")
    assert list(found.reset_index().columns) == list(BALANCING.names) and tuple(found.index) == MOMENTS
    assert found["socket"].tolist() == [0, 1, 1]
    assert found["local_data_pages"].tolist() == found["data_pages"].tolist() == [4096] * 3
    assert found["home_tables"].tolist() == [18] * 3 and found["moved_home_tables"].tolist() == [0] * 3
    assert found["leaf_entries"].tolist() == [4285, 4283, 4283]
    assert found["remote_leaf_entries"].tolist() == [0, 4283, 0]
    assert found["remote_leaf_share"].tolist() == [0, 1, 0]


def test_leaf_tables_are_those_of_the_dump(moments):
    for moment in moments.values():
        home = moment.rows[moment.rows.observer == page_tables.HOME].drop_duplicates(["level", "socket"])
        by_level = home.groupby("level").pages.sum().to_dict()
        levels = [level for level, _ in moment.tables]
        assert by_level == {level: levels.count(level) for level in (1, 2, 3, 4)}


def test_a_table_that_moved_is_found(moments):
    tables = dict(moments["balanced"].tables)
    moving = next(key for key in tables if key[0] == 1)
    tables[moving] += 1 << 29  # to the next node of a guest with 2 GB
    found = balancing_table(changed(moments, "balanced", tables=tables)).set_index("moment")
    assert found["moved_home_tables"].tolist() == [0, 1, 0]
    assert ranges_of_moved_tables(moments["before"].tables, tables) == [moving]


def test_tables_that_exchange_places_have_moved(moments):
    """Numbers of tables by socket do not show this."""
    tables = dict(moments["balanced"].tables)
    one, other = [key for key in tables if key[0] == 1][:2]
    tables[one], tables[other] = tables[other], tables[one]
    assert ranges_of_moved_tables(moments["before"].tables, tables) == [one, other]


def test_new_and_freed_tables_have_not_moved(moments):
    tables = dict(moments["balanced"].tables)
    tables.pop(next(iter(tables)))
    assert ranges_of_moved_tables(moments["before"].tables, tables | {(1, 0x200000): 0x1000}) == []


def test_leaf_tables_on_the_new_socket_are_not_remote(moments):
    text = (DATA / "dump-balanced").read_text()
    assert "home 1 0 12 4 4117 162 0" in text
    half = text.replace("home 1 0 12 4 4117 162 0", "home 1 0 6 4 2000 162 0\nhome 1 1 6 0 2117 0 0")
    found = balancing_table(changed(moments, "balanced", rows=page_tables.placement_of_dump(half))).set_index(
        "moment"
    )
    assert found.loc["balanced", ["leaf_entries", "remote_leaf_entries"]].tolist() == [4283, 2166]


def test_without_a_replica_the_process_walks_the_home_tables(moments):
    rows = moments["replicas"].rows
    home = rows[rows.observer == page_tables.HOME]
    found = balancing_table(changed(moments, "replicas", rows=home)).set_index("moment")
    assert found.loc["replicas", "remote_leaf_share"] == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "before 0 4096 4096 0.2\nbalanced 1 4096 4096 1.0\n",
        "balanced 1 4096 4096 1.0\nbefore 0 4096 4096 0.2\nreplicas 1 4096 4096 2.0\n",
        "before 0 4096 4096\nbalanced 1 4096 4096 1.0\nreplicas 1 4096 4096 2.0\n",
    ],
)
def test_other_output_of_the_program_is_refused(text):
    with pytest.raises(TesseraError, match="before, balanced, replicas"):
        moment_lines(text)


def small_tree(leaf_at: int, target: int = 0x9000) -> Tree:
    """One table a level; the leaf table has one entry and lies at ``leaf_at``."""
    places = {4: 0x1000, 3: 0x2000, 2: 0x3000, 1: leaf_at}
    levels = {}
    for level, place in places.items():
        entries = np.zeros((1, 512), dtype=np.uint64)
        entries[0, 0] = (places[level - 1] if level > 1 else target) | 7
        levels[level] = Level(np.array([place], dtype=np.uint64), np.array([0], dtype=np.uint64), entries)
    return Tree(places[4], levels, np.zeros(256, dtype=np.uint64))


def test_addresses_name_each_table_of_a_walk():
    one, other = table_addresses(small_tree(0x4000)), table_addresses(small_tree(0x5000))
    assert one == {(4, 0): 0x1000, (3, 0): 0x2000, (2, 0): 0x3000, (1, 0): 0x4000}
    assert ranges_of_moved_tables(one, other) == [(1, 0)]


def test_a_replica_that_translates_otherwise_is_named():
    trees = {"home": small_tree(0x4000), "1": small_tree(0x5000)}
    assert unlike_replicas(trees) == []
    assert unlike_replicas(trees | {"1": small_tree(0x5000, target=0xA000)}) == [
        "tree 1: level 1 address 0x0: 0x9007 against 0xa007"
    ]


def wait_stopped(pid: int, seconds: int) -> int:
    """Exit status: 0 stopped, 1 it ended, 2 the time passed."""
    return subprocess.run(["sh", str(WAIT_STOPPED), str(pid), str(seconds)]).returncode


def test_the_script_waits_for_a_process_that_stops_itself():
    child = subprocess.Popen(["sh", "-c", "kill -STOP $$; exit 3"])
    try:
        assert wait_stopped(child.pid, 600) == 0
        assert wait_stopped(os.getpid(), 0) == 2  # this one runs
    finally:
        child.send_signal(signal.SIGCONT)
    assert child.wait() == 3
    assert wait_stopped(child.pid, 600) == 1
