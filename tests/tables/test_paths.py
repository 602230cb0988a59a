"""Where else people bring tables and names: logs, mappings, tables of the results; notes of commands."""

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.core.mapping.mapping_file import read_mapping
from tessera.core.mapping.paging import read_touches
from tessera.core.results.table_io import UnreadableTable, read_cells
from tessera.core.table_columns import SpellingWarning
from tessera.fit.predict.budget import error_budget
from tessera.fit.predict.prediction import fit_to, read_design
from tessera.measure.perf_log_import import logs_from_names, logs_from_table, spelling_notes
from tessera.simulate.inputs import LAYOUT, find_inputs

from .ways import cells_rows, design_rows, joined, mapping_rows, samples_rows


def test_names_of_logs_have_one_spelling(tmp_path):
    for name in ("4KB.1.perf", "2mb.1.perf", "1GB.perf"):
        (tmp_path / name).touch()
    logs = logs_from_names([tmp_path])
    assert [log.layout for log in logs] == ["1gb", "growing-8", "growing-0"]
    assert [name for name in ("4KB", "2mb", "1GB") for note in spelling_notes(logs) if name in note] == [
        "4KB",
        "1GB",
    ]
    (tmp_path / " .1.perf").touch()
    with pytest.raises(TesseraError) as refused:
        logs_from_names([tmp_path / " .1.perf"])
    assert refused.value.code == "log-name"


@pytest.mark.parametrize(
    ("text", "words"),
    [("file,layout,who\na.perf,4kb,me\n", "file,layout,who"), ("layout,repeat\n4kb,0\n", "layout,repeat"),
     ("file,layout\na.perf,4kb\n./a.perf,2mb\n", "line 3"),
     ("file,layout,repeat\na.perf,4kb,1.0\n", "line 2"),
     ("file,layout\n\n,\na.perf,\n", "line 4"), ("file;layout\na.perf,4kb\n", "line 2")],
)  # fmt: skip
def test_tables_of_logs_are_refused_with_their_line(text, words, tmp_path):
    (tmp_path / "a.perf").touch()
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(TesseraError) as refused:
        logs_from_table(tmp_path / "t.csv")
    assert words in str(refused.value)


def test_names_of_layout_files_have_one_spelling(tmp_path):
    (tmp_path / "1GB.csv").touch()
    with pytest.warns(SpellingWarning, match="'1GB'"):
        assert find_inputs([str(tmp_path)], LAYOUT) == [tmp_path / "1GB.csv"]
    (tmp_path / "1gb.csv").touch()
    with pytest.raises(TesseraError, match="1gb"):
        find_inputs([str(tmp_path)], LAYOUT)


#: way to save a mapping -> what the message must say about it
MAPPINGS = {
    "mark": (lambda text: "\ufeff" + text, "byte order mark"),
    "UTF-16": (str, "UTF-16"),
    "semicolons": (lambda text: text.replace(",", ";"), "semicolons"),
    "tabs": (lambda text: text.replace(",", "\t"), "tabs"),
    "old Mac": (lambda text: text.replace("\n", "\r"), "(CR)"),
    "comment": (lambda text: "# mine\n" + text, "# mine"), "quotes": (lambda text: f'"{text}"', "quote"),
}  # fmt: skip


@pytest.mark.parametrize("cut", [3, 4, 6, 9, 13])
def test_a_cut_file_is_no_traceback_and_no_other_mapping(cut, tmp_path):
    text = joined(mapping_rows()[:-1])
    (tmp_path / "m.csv").write_text(text[:-cut])
    with pytest.raises(TesseraError) as refused:
        read_mapping(tmp_path / "m.csv")
    assert "line 6" in refused.value.asked
    (tmp_path / "t.csv").write_text("pool,page,access\nmmap,513,0\nmmap,514,12345678901234\n"[:-cut])
    with pytest.raises(TesseraError, match="line 3"):
        read_touches(tmp_path / "t.csv")


@pytest.mark.parametrize("way", MAPPINGS)
def test_headers_of_mappings_say_how_the_file_was_saved(way, tmp_path):
    change, words = MAPPINGS[way]
    encoding = "utf-16" if way == "UTF-16" else "utf-8"
    (tmp_path / "m.csv").write_bytes(change(joined(mapping_rows())).encode(encoding))
    with pytest.raises(TesseraError) as refused:
        read_mapping(tmp_path / "m.csv")
    assert refused.value.code == "mapping/header" and words in refused.value.found
    assert "docs/reference/table-files.md" in refused.value.remedy


def cells(change):
    rows = cells_rows()
    change(rows)
    return joined(rows)


def put(row, column, value):
    return lambda rows: rows[row].__setitem__(rows[0].index(column), value)


#: damage -> (the file, what the message must have)
CELLS = {
    "underscore": (cells(put(2, "stlb_hits", "1_000")), "1_000"),
    "fullwidth": (cells(put(2, "stlb_hits", "１２")), "１２"),
    "infinite": (cells(put(2, "stlb_hits", "inf")), "stlb_hits"),
    "true": (cells(lambda rows: [put(at, "stlb_hits", "True")(rows) for at in range(1, 7)]), "True"),
    "a field more": (cells(lambda rows: rows[1].append("7")), "line 2"),
    "a field less": (cells(lambda rows: rows[4].pop()), "line 5"),
    "a column twice": (cells(lambda rows: [cells.append(cells[10]) for cells in rows]), "'stlb_hits'"),
    "semicolons": (cells(lambda rows: rows.pop(3)).replace(",", ";"), "semicolons"),
    "no name": (cells(lambda rows: [one.append("7" * (one is not rows[0])) for one in rows]), "name"),
    "a comment": ("# mine\n" + cells(lambda rows: None), "# mine"),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_damaged_tables_of_results_are_refused(name, tmp_path):
    text, words = CELLS[name]
    (tmp_path / "cells.csv").write_text(text.replace('out of "memory", again', "out of memory"))
    with pytest.raises(UnreadableTable) as refused:
        read_cells(tmp_path / "cells.csv")
    assert words in str(refused.value)


def test_commands_print_the_notes(tmp_path):
    rows = samples_rows(30)
    rows[0] = [name.upper() for name in rows[0]]
    rows[-1][0] = "1GB"
    (tmp_path / "samples.csv").write_text(joined(rows))
    (tmp_path / "points.csv").write_text(joined(design_rows()).replace("walk_cycles", "Walk cycles"))
    words = ["--samples", str(tmp_path / "samples.csv")]
    fit = ["--model", "poly1", "--folds", "3", "--out", str(tmp_path / "fit")]
    done = CliRunner().invoke(cli, ["models", "fit", *words, *fit])
    assert done.exit_code == 0 and "'1GB'" in done.stderr and "'STLB_HITS'" in done.stderr
    for more in (["--formula", "poly1"], []):
        done = CliRunner().invoke(cli, ["predict", *words, "--counts", str(tmp_path / "points.csv"), *more])
        assert done.exit_code == (0 if more else 3) and "'Walk cycles'" in done.stderr


def test_repeats_in_other_spellings_are_one_layout(tmp_path):
    (tmp_path / "samples.csv").write_text(joined(samples_rows(30)))
    (tmp_path / "points.csv").write_text(joined(design_rows()))
    fitted, points = fit_to(tmp_path / "samples.csv", "poly1"), read_design(tmp_path / "points.csv")

    def noise(text):
        (tmp_path / "repeats.csv").write_text(text)
        found = error_budget(fitted, points, repeats=tmp_path / "repeats.csv")
        return found[found["part"] == "noise"].iloc[0]

    runs = pd.DataFrame({"layout": ["4KB", "4kb", "growing-0"], "runtime_cycles": [100, 101, 102]})
    assert " 2 " in noise(runs.to_csv(index=False))["message"]
    with pytest.raises(TesseraError) as refused:
        noise(runs.astype({"runtime_cycles": str}).replace("101", "1_01").to_csv(index=False))
    assert "line 3" in refused.value.asked and "1_01" in refused.value.found
