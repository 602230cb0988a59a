"""Shares of remote leaf entries by policy, and the walk cycles that follow from them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.lab.numa.map_rules import (
    POLICIES,
    SPLITS,
    Touched,
    remote_leaf_shares,
    split_touches,
    touched_pages,
)
from tessera.lab.numa.predicted_costs import Memory, Walks, measured_shares, published_shares, socket_costs

MEMORY = Memory(280, 250, 5, 580, 140)
WALKS = Walks(cycles=1e9, cycles_ci95=0, loads=2e6, walks=2.5e6)


def randomly_touched(seed: int, nodes: int, pages: int = 40_000) -> Touched:
    random = np.random.default_rng(seed)
    order = random.permutation(100_000)[:pages]
    return Touched(order, random.integers(0, nodes, pages), nodes)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("nodes", [1, 2, 4, 7])
def test_shares_sum_to_one_less_than_the_sockets(policy, nodes):
    for touched in (
        randomly_touched(nodes, nodes),
        *(split_touches(np.arange(5000), nodes, how) for how in SPLITS),
    ):
        shares = remote_leaf_shares(touched, policy)
        assert len(shares) == nodes and shares.sum() == pytest.approx(nodes - 1)
        assert (shares >= 0).all() and (shares <= 1).all()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_plain_loop_over_pages_has_the_same_shares(policy):
    touched = randomly_touched(5, 4, 6000)
    where: dict[int, int] = {}
    for page, socket in zip(touched.pages.tolist(), touched.sockets.tolist(), strict=True):
        where.setdefault(page // 512, len(where) % 4 if policy == "interleave" else socket)
    local = np.zeros(4)
    for page in touched.pages.tolist():
        local[where[page // 512]] += 1
    assert remote_leaf_shares(touched, policy) == pytest.approx(1 - local / 6000)


def test_first_touches_of_one_thread_blocks_and_pages():
    pages = np.arange(4 * 8 * 512)
    for policy in ("first-touch", "auto"):
        assert list(remote_leaf_shares(split_touches(pages, 4, "one"), policy)) == [0, 1, 1, 1]
        assert list(remote_leaf_shares(split_touches(pages, 4, "blocks"), policy)) == [0.75] * 4
        # the first page of each table is a multiple of 4: socket 0 has all tables
        assert list(remote_leaf_shares(split_touches(pages, 4, "pages"), policy)) == [0, 1, 1, 1]
    for how in SPLITS:
        assert list(remote_leaf_shares(split_touches(pages, 4, how), "interleave")) == [0.75] * 4


def test_renamed_sockets_have_the_shares_of_their_old_names():
    touched = randomly_touched(9, 4)
    names = np.array([2, 0, 3, 1])
    renamed = Touched(touched.pages, names[touched.sockets], 4)
    for policy in ("first-touch", "auto"):
        assert list(remote_leaf_shares(renamed, policy)[names]) == list(remote_leaf_shares(touched, policy))


def test_first_touches_of_random_sockets_are_binomial():
    shares = remote_leaf_shares(randomly_touched(3, 4), "first-touch")
    tables = 100_000 / 512
    assert abs(shares - 0.75).max() < 4.5 * (0.75 * 0.25 / tables) ** 0.5


def test_walk_cycles_by_share():
    rows = socket_costs(np.array([0, 1, 1, 1]), WALKS, MEMORY)
    assert list(rows["walker_load_cycles"]) == [280, 580, 580, 580]
    assert list(rows["walk_cycles"]) == [1e9, 1.6e9, 1.6e9, 1.6e9]
    even = socket_costs(np.full(4, 0.75), Walks(280e6, 0, 1e6, 1e6), MEMORY)
    assert list(even["walk_cycles_ratio"]) == pytest.approx(
        [(280 + 3 * 580) / 4 / 280] * 4
    )  # the bound, 1.80


@pytest.mark.parametrize("shares", [[0.18, 0.72, 1, 1], [0, 0, 0, 0], [float("nan"), 1, 1, 1]])
def test_shares_that_are_none_are_refused(shares):
    with pytest.raises(TesseraError) as raised:
        socket_costs(np.array(shares), WALKS, MEMORY)
    assert raised.value.code == "numa-shares"


def test_archived_shares(read):
    archive = read(shares={"Gamma": (86, 68, 71, 75)})
    assert list(published_shares(archive, "Gamma")) == [0.86, 0.68, 0.71, 0.75]
    with pytest.raises(TesseraError):
        published_shares(archive, "Delta")


def test_shares_of_a_guest(tmp_path):
    """Socket 1 has 300 of 400 leaf entries; the upper level does not count."""
    columns = "workload,config,observer,level,socket,target_socket,pages,pointers"
    rows = ["gups,F,home,1,0,0,1,60", "gups,F,home,1,0,1,1,40", "gups,F,home,1,1,0,3,100",
            "gups,F,home,1,1,1,3,200", "gups,F,home,2,0,0,1,4", "gups,F,home,2,0,1,1,0"]  # fmt: skip
    path = tmp_path / "placement.csv"
    path.write_text("\n".join([columns, *rows]) + "\n")
    assert list(measured_shares(path, "gups", "F")) == [0.75, 0.25]
    with pytest.raises(TesseraError):
        measured_shares(path, "gups", "I")


def test_the_command(tmp_path, root):
    words = [
        "lab",
        "numa",
        "sockets",
        "--cells",
        f"{root}/notebooks/data/cells.csv",
        "--workload",
        "gups-8gb",
    ]
    words += ["--platform", "haswell-sim", "--out", str(tmp_path / "out.csv")]
    words += ["--remote-load-cycles", "500"]
    touches = tmp_path / "touches.csv"
    touches.write_text("pool,page,access\n" + "".join(f"mmap,{page},{page}\n" for page in range(4096)))
    for pages in (["--pages", "4096"], ["--touches", str(touches)]):
        done = CliRunner().invoke(cli, [*words, "--policy", "first-touch", "--split", "blocks", *pages])
        assert done.exit_code == 0, done.output
        found = pd.read_csv(tmp_path / "out.csv")
        assert list(found["remote_share"]) == [0.75] * 4 and found["walk_cycles_ratio"].nunique() == 1
    (tmp_path / "map.csv").write_text(
        "kind,level,pool,start_offset,end_offset,node\n"
        "data,1,mmap,0,4194304,0\ntable,1,mmap,0,2097152,0\ntable,1,mmap,2097152,4194304,3\n"
    )
    done = CliRunner().invoke(cli, [*words, "--map", str(tmp_path / "map.csv")])
    assert done.exit_code == 0, done.output
    assert list(pd.read_csv(tmp_path / "out.csv")["remote_share"]) == [0.5, 1, 1, 0.5]
    for wrong in (
        [],
        ["--map", str(tmp_path / "map.csv"), "--sockets", "3"],
        ["--map", str(touches)],
        ["--policy", "x", "--pages", "9"],
        ["--policy", "auto"],
        ["--policy", "auto", "--pages", "9", "--figure-4", "A"],
        ["--placement", "x"],
    ):
        assert CliRunner().invoke(cli, [*words, *wrong]).exit_code != 0
    with pytest.raises(TesseraError):
        touched_pages(touches, 3)
