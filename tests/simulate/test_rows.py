"""The simulator's output: each row gets its own units and structures, and the caller's file name."""

from pathlib import Path

from tessera.simulate.simulator import DESIGN_COLUMNS, UNIT_COLUMNS, SimulatorOutput

UNITS = ",".join(UNIT_COLUMNS) + "\nmapping-0,0,5,10,4,1,30,\n"
DESIGNS = (
    ",".join(DESIGN_COLUMNS)
    + "\nmapping-0,anchor,7,3,56,\nmapping-0,background,2,1,,408\nmapping-1,anchor,1,0,8,\n"
)


def test_a_row_comes_with_what_belongs_to_it(tmp_path):
    (tmp_path / "units.csv").write_text(UNITS)
    (tmp_path / "designs.csv").write_text(DESIGNS + "mapping-2,anch")  # a line that is half written
    kept = {}
    copies = {"mapping-0": Path("m/low.csv"), "mapping-1": Path("m/high.csv")}
    rows = SimulatorOutput(tmp_path, copies, lambda _, path, *parts: kept.__setitem__(path.stem, parts), {})
    rows.line("layout,status,message,stlb_misses\n")
    rows.line("mapping-0,ok,,9\n")
    rows.line(f'mapping-1,failed,"mapping {tmp_path}/mapping-1.csv line 2, or mapping mapping-1: no",\n')
    row, units, structures = kept["low"]
    assert row == {"status": "ok", "message": "", "stlb_misses": 9}
    assert [unit["walk_cycles"] for unit in units] == [30]
    assert structures == [
        {"structure": "anchor", "accesses": 7, "hits": 3, "lookup_cycles": 56, "background_cycles": None},
        {
            "structure": "background",
            "accesses": 2,
            "hits": 1,
            "lookup_cycles": None,
            "background_cycles": 408,
        },
    ]
    row, units, structures = kept["high"]
    assert row["message"] == "mapping m/high.csv line 2, or mapping m/high.csv: no"
    assert units == [] and [part["hits"] for part in structures] == [0]


def test_rows_of_several_platforms_have_the_place_of_each(tmp_path):
    head = "variant," + ",".join(DESIGN_COLUMNS)
    (tmp_path / "units.csv").write_text("variant," + ",".join(UNIT_COLUMNS) + "\n")
    (tmp_path / "designs.csv").write_text(
        f"{head}\nplatform-1,mapping-0,anchor,7,3,56,\nplatform-0,mapping-0,anchor,1,0,8,\n"
    )
    kept = {}
    labels = {"platform-0": "park", "platform-1": "haswell"}

    def keep(place, path, row, units, structures):
        kept[place, path.stem] = row, structures

    rows = SimulatorOutput(tmp_path, {"mapping-0": Path("m/low.csv")}, keep, labels)
    rows.line("variant,layout,status,message,stlb_misses\n")
    rows.line("platform-1,mapping-0,ok,,9\n")
    rows.line(f'platform-0,mapping-0,failed,"{tmp_path}/platform-0.txt: no such key",\n')
    row, structures = kept[1, "low"]
    assert row["stlb_misses"] == 9 and [part["hits"] for part in structures] == [3]
    row, structures = kept[0, "low"]
    assert row["message"] == "park: no such key" and [part["hits"] for part in structures] == [0]
