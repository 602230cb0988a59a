"""Costs of updates and requests, and the accounts of replicas, from lines as the guest writes them."""

from pathlib import Path

import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.core.results.kernel_tables import COST_MEMORY
from tessera.lab.kernel import image, update_costs
from tessera.lab.kernel.guest import GuestRun
from tessera.lab.kernel.update_costs import (
    account_disagreements,
    costs_script,
    counted_files,
    memory_accounts,
    region_costs,
    request_costs,
    unequal_steps,
    with_references,
)
from tessera.lab.study import Run, run_study

HEADER = "operation,pages,entries,repeat,instructions\ncalibration,,0,0,200006\n"


def counts(each: float, fixed: int = 5000, entries=(10, 490), operation="munmap", pages="clean") -> str:
    """Lines of `leafops`, whose second repeat was interrupted."""
    return HEADER + "".join(
        f"{operation},{pages},{n},{repeat},{fixed + int(each * n) + (repeat == 1) * 90_000}\n"
        for n in entries
        for repeat in range(3)
    )


def references(loads: float, stores: float, entries=(10, 490)) -> str:
    """Lines of the plugin for these lines."""
    return "".join(
        f"{900 + int(loads * n) + (repeat == 1) * 5000},{700 + int(stores * n)}\n"
        for n in entries
        for repeat in range(3)
    )


def updates(*each: float) -> pd.DataFrame:
    """By copies; each has 2 loads and 1 store more than the one before."""
    texts = {str(copies): counts(one) for copies, one in enumerate(each)}
    lines = "".join(references(50 + 2 * copies, 20 + copies) for copies in range(len(each)))
    joined = with_references(texts, lines)
    return update_costs.update_costs({int(copies): text for copies, text in joined.items()})


def test_the_cost_of_an_entry_has_no_part_of_the_call_and_no_interrupt():
    table = updates(400, 404, 424, 434, 444)
    assert table.instructions.tolist() == [400, 404, 424, 434, 444]
    assert table.added_instructions.tolist() == [0, 4, 24, 34, 44]
    assert table.copies.tolist() == [0, 1, 2, 3, 4] and set(table.pages) == {"clean"}
    assert table.loads.tolist() == [50, 52, 54, 56, 58] and table.stores.tolist() == [20, 21, 22, 23, 24]
    assert table.added_references.tolist() == [0, 3, 6, 9, 12]


@pytest.mark.parametrize("more", [-1, 1])
def test_counts_of_other_operations_are_refused(more):
    lines = "1,2\n" * (6 + more)
    with pytest.raises(TesseraError, match=f"{6 + more} lines for 6 operations"):
        with_references({"leaves": counts(400)}, lines)


@pytest.mark.parametrize(
    ("pages", "each", "wrong"),
    [
        ("tables", (400, 404, 424, 434, 444), []),  # as many references for each copy
        ("tables", (400, 404, 424, 444, 466), ["22.0 instructions an entry, the third 20.0"]),
        ("clean", (400, 404, 424, 444, 466), []),  # what other pages the kernel had to get
        ("clean", (400, 404, 424, 450, 484), ["34.0 instructions an entry, the third 26.0"]),
        ("dirty", (400, 400, 400, 400, 400), []),  # nothing to do
    ],
)
def test_each_copy_may_add_as_much_as_the_one_before(pages, each, wrong):
    found = unequal_steps(updates(*each).assign(pages=pages))
    assert found == [f"munmap of {pages} pages: the fourth copy adds {line}" for line in wrong]


def test_a_region_has_the_ratios_of_table5():
    each = {"unpatched": 99, "off": 100, "on_not_replicated": 101, "replicated": 150}
    (row,) = region_costs(
        {name: counts(one, fixed=0, entries=(2048,)) for name, one in each.items()}
    ).to_dict("records")
    assert (row["operation"], row["pages"], row["entries"]) == ("munmap", "clean", 2048)
    assert row["replicated_ratio"] == 1.5 and row["off_ratio"] == pytest.approx(100 / 99)
    assert row["on_not_replicated_instructions"] == 101 * 2048


def requests(calibrated: int = 200_000_500) -> str:
    """64 MB: 32 tables of leaves and one of each other level; 36 with the program's own, 9 of them."""
    lines = ["request,bytes,home_kb,replica_kb,instructions,elapsed"]
    lines.append(f"calibration,0,0,0,{calibrated},200000100")
    for size, tables in ((64 << 20, 45), (256 << 20, 141)):
        home = 4 * (tables - 1)
        for request, copies, used in (("add 4", 4, 400), ("repeat", 4, 9), ("remove 1", 3, 100)):
            lines.append(
                f"{request},{size},{home},{4 * copies * tables},{used * tables},{used * tables + 70}"
            )
        lines.append(f"remove all,{size},{home},0,{300 * tables},{300 * tables + 70}")
    return "\n".join(lines) + "\n"


def test_requests_cost_by_tables_that_came_or_went():
    table = request_costs(requests())
    assert table.home_tables.tolist() == [45] * 4 + [141] * 4
    assert table.pages.tolist() == [180, 0, 45, 135, 564, 0, 141, 423]
    assert table.instructions_per_page.dropna().tolist() == [100] * 6
    assert table.instructions_per_page.isna().tolist() == [False, True, False, False] * 2


def test_processor_time_that_is_no_count_is_refused():
    with pytest.raises(TesseraError, match="200000100 instructions took 90000000 ns"):
        request_costs(requests(90_000_000))


def accounts(**changes: dict[str, int]) -> pd.DataFrame:
    """A process with 45 tables; `changes`: step -> bytes that an account has too many."""
    lines = [",".join(("step,nodes,home_kb,replica_kb,meminfo_kb,reserve_kb", "cgroup_bytes"))]
    steps = {"one node": 1, "two nodes": 2, "four nodes": 4, "no node": 0, "reserve": 0}
    for step, nodes in steps.items():
        more = changes.get(step.replace(" ", "_"), {})
        kb = 180 * nodes
        values = {
            "replica_kb": kb,
            "meminfo_kb": 8 + kb,
            "reserve_kb": 4096 if step == "reserve" else 0,
            "cgroup_bytes": 70_000_000 + 1024 * kb,
        }
        values = {name: value + more.get(name, 0) for name, value in values.items()}
        lines.append(",".join(map(str, (step, nodes, 176, *values.values()))))
    return memory_accounts("\n".join(lines) + "\n")


def test_accounts_of_4_kib_a_page_agree():
    table = accounts()
    assert list(table.columns) == list(COST_MEMORY.names)
    assert account_disagreements(table) == []


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"four_nodes": {"replica_kb": -4, "meminfo_kb": -4, "cgroup_bytes": -4096}}, "179 replicas of 45"),
        ({"two_nodes": {"meminfo_kb": 4}}, "two nodes: meminfo has"),
        ({"four_nodes": {"cgroup_bytes": -4096}}, "four nodes: the cgroup has"),
        ({"no_node": {"meminfo_kb": 4}}, "no node: meminfo has"),
        (
            {"no_node": {"replica_kb": 4, "meminfo_kb": 4, "cgroup_bytes": 4096}},
            "no node: 1 replicas of 45 tables",
        ),
        ({"reserve": {"reserve_kb": -4}}, "a reserve of 4190208 bytes, not 4194304"),
        ({"no_node": {"reserve_kb": 4}}, "no node: meminfo has a reserve of 4096 bytes, not 0"),
    ],
)
def test_a_page_that_is_missing_in_an_account_is_found(changes, found):
    (line,) = account_disagreements(accounts(**changes))
    assert found in line


def test_a_kernel_without_an_account_of_the_reserve_is_wrong():
    text = "step,nodes,home_kb,replica_kb,meminfo_kb,reserve_kb,cgroup_bytes\none node,1,0,4,4,-1,4096\n"
    assert account_disagreements(memory_accounts(text)) == [
        "one node: meminfo has a reserve of nan bytes, not 0"
    ]


def test_the_study_reads_what_its_script_writes(monkeypatch, tmp_path):
    scripts = []

    def run(tools, program, script, out, machine, **_):
        scripts.append(script)
        out.mkdir(parents=True)
        lines = ""
        for name, (copies, _) in counted_files(program == "measure").items():
            what = {"tables": {"entries": (5, 105)}, "region": {"entries": (2048,)}}.get(
                name.split("-")[0], {}
            )
            (out / f"{name}.csv").write_text(counts(400 + 10 * copies, **what))
            lines += references(50 + 2 * copies, 20, **what)
        if program == "plain":
            return GuestRun(0, out, "6.12", 5.0)
        (name,) = set(machine.written) - {"console"}
        assert f"-plugin {tmp_path}/plugin.so,out=/x/{name}" in " ".join(
            machine.command(Path("/x"), out, out)
        )
        (out / name).write_text(lines)
        (out / "requests.csv").write_text(requests())
        (out / "accounts.csv").write_text(
            "step,nodes,home_kb,replica_kb,meminfo_kb,reserve_kb,cgroup_bytes\none node,1,0,4,4,0,8192\n"
            "reserve,0,0,0,0,4096,4096\n"
        )
        return GuestRun(0, out, "6.12", 5.0)

    monkeypatch.setattr(update_costs, "build_component", lambda name, say: None)
    monkeypatch.setattr(update_costs, "built", lambda component, name: tmp_path / "plugin.so")
    monkeypatch.setattr(image, "guest_program", lambda variant, say, **options: variant)
    monkeypatch.setattr(image, "kernel_tools", lambda say: None)
    monkeypatch.setattr(update_costs, "run_in_guest", run)
    study = Run(tmp_path)
    run_study(update_costs.costs_study, study, {"sizes": ("64MB",)})
    tables = {path.name: pd.read_csv(path) for path in tmp_path.glob("*.csv")}
    assert {name: len(table) for name, table in tables.items()} == {
        "operations.csv": 1, "updates.csv": 10, "requests.csv": 8, "memory.csv": 2,
    }  # fmt: skip
    assert study.wrong == [] and scripts == [costs_script(False, []), costs_script(True, [64 << 20])]
    assert "requests 67108864 >" in scripts[1] and "vm/pgtable_replication" not in scripts[0]
    on = scripts[1].index("vm/pgtable_replication")
    assert scripts[1].index("region-off.csv") < on < scripts[1].index("leaves-1.csv")
