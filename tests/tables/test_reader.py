"""The reader of tables: what each refusal says, by its code, line and value; notes; limits."""

import time

import numpy as np
import pandas as pd
import pytest

from tessera.core import table_file
from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import canonical_name, name_notes
from tessera.core.table_columns import SpellingWarning, TableRefused, finite_number, rounding_note
from tessera.core.table_file import read_table
from tessera.fit.models import samples
from tessera.fit.predict.prediction import read_design

HEAD = "design,stlb_hits,stlb_misses,walk_cycles\n"
MARK = b"\xef\xbb\xbf"
ROW = "mine,12000,30000000,3600000000\n"

#: name -> (code, line, what the message must have, bytes)
REFUSED = {
    "no file": ("absent", None, "table.csv", None),
    "empty": ("header", None, "empty", b""),
    "only line ends": ("header", None, "empty", b"\n\r\n\n"),
    "only separators": ("header", None, "empty", b",,,\n;;\n"),
    "Latin-1": ("encoding", 2, "byte 41 (0xe9)", (HEAD + "\xe9,1,2,3\n").encode("latin-1")),
    "Latin-1 with a mark": ("encoding", 2, "byte 44 (0xe9)", MARK + (HEAD + "\xe9").encode("latin-1")),
    "a cut UTF-16": ("encoding", 1, "UTF-16", b"\xff\xfea\x00b"),
    "UTF-16 without a mark": ("encoding", None, "UTF-16", HEAD.encode("utf-16-le")),
    "UTF-16 big endian without a mark": ("encoding", None, "UTF-16", HEAD.encode("utf-16-be")),
    "UTF-32": ("encoding", None, "UTF-32", HEAD.encode("utf-32")),
    "a workbook": ("encoding", None, ".xlsx", b"PK\x03\x04 and more"),
    "gzip": ("encoding", None, "gzip", b"\x1f\x8b\x08\x00"),
    "NUL": ("byte", 2, "U+0000", (HEAD + "a\x00,1,2,3\n").encode()),
    "the end of DOS": ("byte", 3, "U+001A", (HEAD + ROW + "\x1a").encode()),
    "a mark inside": ("byte", 2, "U+FEFF", (HEAD + "\ufeff" + ROW).encode()),
    "a line separator": ("byte", 2, "U+2028", (HEAD + "a\u2028,1,2,3\n").encode()),
    "a lone CR": ("line-end", 2, "(CR)", (HEAD + "a,1,2,3\rb,1,2,3\n").encode()),
    "CR CR LF": ("line-end", 1, "(CR)", HEAD.replace("\n", "\r\r\n").encode()),
    "two separators": ("separator", 1, "commas and semicolons", b"a,b;c\n1,2\n"),
    "blanks": ("separator", 1, "layout runtime_cycles", b"layout runtime_cycles\ngrowing-0 7\n"),
    "bars": ("separator", 1, "layout|runtime_cycles", b"layout|runtime_cycles\ngrowing-0|7\n"),
    "an odd sep=": ("separator", 1, "'|'", b"sep=|\na|b\n"),
    "a line in quotes": ("quote", 1, "design,stlb_hits", f'"{HEAD.strip()}"\n{ROW}'.encode()),
    "a quote inside": ("quote", 2, '5" disk', (HEAD + '5" disk,1,2,3\n').encode()),
    "text behind a quote": ("quote", 2, '"a"b', (HEAD + '"a"b,1,2,3\n').encode()),
    "an open quote": ("quote", 3, '"b', (HEAD + ROW + '"b,1,2,3\n').encode()),
    "an open quote in the header": ("quote", 1, '"walk', HEAD.replace("walk", '"walk').encode()),
    "a field more": ("fields", 2, "5 fields, the header has 4", (HEAD + "mine,12,000,3,4\n").encode()),
    "a comma at the end": ("fields", 2, "5 fields", (HEAD + ROW.replace("\n", ",\n")).encode()),
    "a field less": ("fields", 3, "3 fields, the header has 4", (HEAD + ROW + "b,1,2\n").encode()),
    "R write.table": ("fields", 2, "4 fields", b"stlb_hits,stlb_misses,walk_cycles\n1,7,8,9\n"),
    "behind a cell of two lines": ("fields", 4, "2 fields", (HEAD + '"a\nb",1,2,3\nc,1\n').encode()),
    "behind empty lines": ("fields", 5, "2 fields", (HEAD + "\n,,,\n\nc,1\n").encode()),
    "a long header": ("size", 1, "131,072", (HEAD.strip() + "9" * 131_072 + "\n" + ROW).encode()),
    "a long row": ("size", 3, "131,073", (HEAD + ROW + "9" * 131_067 + ",1,2,3\n").encode()),
    "a comment": ("comment", 1, "# of", ("# of today\n" + HEAD + ROW).encode()),
    "a row as a comment": ("comment", 2, "#mine", (HEAD + "#" + ROW).encode()),
    "a header as a comment": ("comment", 1, "# design", ("# " + HEAD + ROW).encode()),
    "a column twice": ("header", 1, "'walk_cycles'", b"design,stlb_hits,walk_cycles,walk_cycles\na,1,2,3\n"),
    "a column in two spellings": ("header", 1, "'Walk Cycles'", b"a,walk_cycles,Walk Cycles\n1,2,3\n"),
    "a value without a name": ("header", 3, "'7'", b"a,b,\n1,2,\n1,2,7\n"),
    "grouped by points": ("number", 2, "12.345", (HEAD + "a,12.345,2,3\n").replace(",", ";").encode()),
    "grouped by points, tabs": (
        "number", 2, "1.234.567", (HEAD + "a,1.234.567,2,3\n").replace(",", "\t").encode()
    ),
}  # fmt: skip
KNOWN = ("design", "stlb_hits", "stlb_misses", "walk_cycles")


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_name_the_line_and_what_is_there(name, tmp_path):
    code, line, words, data = REFUSED[name]
    path = tmp_path / "table.csv"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(TableRefused) as refused:
        read_table(path, f"design {path}", KNOWN, KNOWN[1:])
    error = refused.value
    assert (error.code, error.line) == (f"table-{code}", line) and error.remedy
    assert words in str(error) and (line is None or f"table.csv line {line}" in error.asked)


def test_every_code_has_an_example():
    codes = {f"table-{code}" for code, *_ in REFUSED.values()}
    documented = TableRefused.__doc__
    assert all(code in documented for code in codes) and codes >= {
        "table-fields",
        "table-encoding",
        "table-number",
    }


def test_lines_of_rows_survive_empty_lines_and_cells_of_several_lines(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n\n1,"x\ny"\n,\n2,z\n')
    frame = read_table(tmp_path / "t.csv", "t").frame
    assert frame.index.tolist() == [3, 6] and frame["b"].tolist() == ["x\ny", "z"]


#: name -> cells of a number that is refused, and a word of the reason
NO_NUMBERS = {
    "thousands": ("12,000", "thousands"), "decimal comma": ("1,5", "decimal comma"),
    "blank": ("12 000", "thousands"), "no-break blank": ("12\u00a0000", "thousands"),
    "underscore": ("1_000", "thousands"), "quote": ("12'000", "thousands"), "points": ("1.000.000", "points"),
    "infinite": ("inf", "finite"), "long infinite": ("-Infinity", "finite"),
    "too large": ("1e999", "finite"), "fullwidth": ("１２", "script"), "arabic": ("١٢", "script"),
    "hexadecimal": ("0x10", "hexadecimal"), "missing": ("NA", "empty"), "text": ("many", "not a number"),
    "percent": ("5%", "not a number"), "two signs": ("--5", "not a number"),
    "only a point": (".", "number|thousands"),
    "an exponent alone": ("e5", "not a number"), "an open exponent": ("1e", "not a number"),
    "true": ("True", "number"),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_NUMBERS)
def test_numbers_have_one_form(name):
    cell, why = NO_NUMBERS[name]
    with pytest.raises(ValueError, match=why):
        finite_number(cell)


@pytest.mark.parametrize(
    ("cell", "value"),
    [("12000", 12000), (" 7\t", 7), ("+5", 5), (".5", 0.5), ("5.", 5), ("007", 7), ("1e+05", 1e5),
     ("1.2E9", 1.2e9), ("-0", 0), ("9007199254740993", 2.0**53), (12, 12),
     (np.float64(0.1), 0.1), (np.int64(3), 3)],
)  # fmt: skip
def test_numbers_that_are_read(cell, value):
    assert finite_number(cell) == value and str(finite_number(cell)) != "-0.0"


def test_rounded_numbers_are_noted():
    def note(*cells):
        return rounding_note(pd.DataFrame({"walk_cycles": cells}), "walk_cycles")

    assert "6 digits" in note("1.23457E+11", "2.23457E+11", "3.23457E+11") and "5e-06" in note(
        *["1.23457e+11"] * 3
    )
    assert note("1.23457E+11", "12", "3.2E+11", "2.23457E+11") is None  # written short, not rounded
    assert note("1.23457E+11", "2.23457E+11") is None  # two numbers show nothing
    assert note(*["1.23456789012E+11"] * 3) is None and note(*["1.23457E+03"] * 3) is None


def test_large_files_are_refused_before_they_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(table_file, "MOST_CELLS", 100)
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 60)
    with pytest.raises(TableRefused) as refused:
        read_table(tmp_path / "t.csv", "t")
    assert refused.value.code == "table-size"
    with pytest.raises(TableRefused) as refused:
        read_table("/dev/zero", "t")
    assert refused.value.code == "table-size"


#: texts that slow patterns down
ODD = {
    "quotes": b'"' * 400_001, "commas": b"a\n" + b"x," * 200_001, "open quotes": b'"a\n' * 100_001,
    "a long row": b"a,b\n" + b'"x",' * 100_000, "pairs of quotes": b'""a""\n' * 100_000,
    "triples": b'"""a\n' * 100_000, "blanks": b"a,b\n" + b" " * 400_000 + b'"',
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_files_take_no_more_than_seconds(name, tmp_path):
    (tmp_path / "t.csv").write_bytes(ODD[name])
    start = time.process_time()
    with pytest.raises(TableRefused):
        read_table(tmp_path / "t.csv", "t")
    assert time.process_time() - start < 2


def test_a_long_cell_of_digits_takes_no_time():
    start = time.process_time()
    for text in ("1" * 100_000 + "x", "1 " * 100_000, "0x" + "f" * 100_000 + "g"):
        with pytest.raises(ValueError):
            finite_number(text)
    assert time.process_time() - start < 2


#: spelling -> name
NAMES = {
    "4kb": "growing-0", "4KB": "growing-0", "4 KiB": "growing-0", "4k": "growing-0", "2MB": "growing-8",
    " 2mb ": "growing-8", "2M": "growing-8", "1GB": "1gb", "1 GiB": "1gb", "1-gb": "1gb", "１ＧＢ": "1gb",
    "Growing-0": "growing-0", "growing_3": "growing-3", "RANDOM 7": "random-7",
    "Sliding-20-3": "sliding-20-3", "growing-8": "growing-8", "1gb": "1gb", "Hot": "Hot", "2gb": "2gb",
    "4gb": "4gb", "growing": "growing",
    "growing-_4": "growing-_4", "growing-0x": "growing-0x", "1gb-hot": "1gb-hot", "été": "été",
}  # fmt: skip


@pytest.mark.parametrize("given", NAMES)
def test_layouts_have_one_spelling(given):
    assert canonical_name(given) == NAMES[given] == canonical_name(NAMES[given])
    said = given != NAMES[given] and given not in ("4kb", "2mb")
    assert [repr(given)[1:-1] in note and NAMES[given] in note for note in name_notes([given])] == [
        True
    ] * said


def samples_frame(layouts):
    falling = range(len(layouts), 0, -1)
    columns = ("runtime_cycles", "stlb_hits", "stlb_misses", "walk_cycles")
    return pd.DataFrame({"layout": layouts} | dict.fromkeys(columns, falling))


def test_capitals_do_not_turn_the_test_point_into_a_sample(tmp_path):
    frame = samples_frame(["4KB", "2MB", "1GB", "Random-3"])
    frame.to_csv(tmp_path / "samples.csv", index=False)
    table = samples.read_samples(tmp_path / "samples.csv")
    assert table.fitted.layouts == ("growing-0", "growing-8", "random-3") and table.test.layouts == ("1gb",)
    assert [note for note in table.notes if "'1GB'" in note and "1gb" in note]
    with pytest.warns(SpellingWarning) as warned:
        assert samples.check_samples(frame).test.layouts == ("1gb",)
    assert ["1GB" in str(one.message) for one in warned] == [False, False, True, False]


@pytest.mark.parametrize(
    ("layouts", "words"),
    [(["4kb", "2mb", "1gb", "1GB"], "1gb"), (["4kb", "2mb", "Hot", "hot"], "Hot, hot"),
     (["4kb", "2mb", ""], "''"),
     (["4kb", "2mb", "a\u200b"], "u200b"), (["4KB", "4kb", "2mb"], "lines 2, 3")],
)  # fmt: skip
def test_two_spellings_of_one_layout_are_refused(layouts, words, tmp_path):
    samples_frame(layouts).to_csv(tmp_path / "s.csv", index=False)
    with pytest.raises(TesseraError) as refused:
        samples.read_samples(tmp_path / "s.csv")
    assert words in str(refused.value)


def test_frames_in_python_get_the_same_checks():
    frame = samples_frame(["4kb", "2mb", "a"])
    twice = pd.concat([frame, frame[["walk_cycles"]]], axis=1)
    for read in (samples.check_samples, read_design):
        with pytest.raises(TableRefused, match="walk_cycles"):
            read(twice)
        with pytest.raises(TableRefused, match="1_000"):
            read(frame.assign(stlb_hits=["1_000", "2", "3"]))
        with pytest.raises(TableRefused, match="True"):
            read(frame.assign(stlb_hits=[True, True, True]))
        with pytest.warns(SpellingWarning, match="STLB Hits"):
            read(frame.rename(columns={"stlb_hits": "STLB Hits"}))
        with pytest.warns(SpellingWarning, match="'2 MB'"):
            read(frame.replace({"layout": {"2mb": "2 MB"}}))


def test_designs_are_named_once(tmp_path):
    (tmp_path / "d.csv").write_text(HEAD + ROW + "\n" + ROW)
    with pytest.raises(TableRefused) as refused:
        read_design(tmp_path / "d.csv")
    assert "mine" in refused.value.asked and "lines 2 and 4" in refused.value.found


def few_samples() -> pd.DataFrame:
    rows = [("growing-0", 10, 50, 900, 1000), ("growing-8", 1, 5, 90, 500), ("random-1", 5, 20, 400, 700)]
    return pd.DataFrame(rows, columns=["layout", *samples.COLUMNS.values()])


#: What pandas has in place of a value, and numbers that are none: column, its cells, what the message has.
NO_VALUES = {
    "NA of Int64": ("stlb_hits", pd.array([1, 2, pd.NA], dtype="Int64"), "empty"),
    "NaN": ("stlb_hits", [1, 2, np.nan], "empty"),
    "no time": ("stlb_hits", [1, 2, pd.NaT], "empty"),
    "complex": ("stlb_hits", np.array([1, 2, 3 + 1j]), "not a number"),
    "no layout": ("layout", ["growing-0", "growing-8", None], "no name"),
    "NaN as layout": ("layout", ["growing-0", "growing-8", np.nan], "no name"),
    "NA as layout": ("layout", pd.array(["growing-0", "growing-8", pd.NA], dtype="string"), "no name"),
    "a workload for some rows": ("workload", ["gups", "gups", None], "several"),
}


@pytest.mark.parametrize("name", NO_VALUES)
def test_missing_values_of_frames_are_refused(name):
    column, cells, found = NO_VALUES[name]
    with pytest.raises(TesseraError) as error:
        samples.check_samples(few_samples().assign(**{column: cells}))
    assert found in str(error.value)


@pytest.mark.parametrize("empty", [None, np.nan, pd.NA, " "])
def test_a_design_without_a_name_is_refused(empty):
    frame = few_samples().drop(columns="layout").assign(design=["a", empty, "b"])
    with pytest.raises(TesseraError, match="design: design: 1 rows"):
        read_design(frame)


def test_an_index_called_line_may_hold_anything():
    frame = few_samples().assign(stlb_hits=-1).set_axis(pd.Index(["a", "b", "c"], name="line"))
    with pytest.raises(TableRefused, match="line a: .*stlb_hits of layout growing-0"):
        samples.check_samples(frame)
