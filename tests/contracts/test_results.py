"""`tessera.core.results` is the one place that knows the results tree: contract, page and source say so."""

import ast
import re
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

import pandas as pd
import pytest

from tessera.core.results.catalogue import RESULTS_PAGE, TABLES, members, results_page
from tessera.core.results.cell_tables import CELLS, MANIFEST, MODELS_OF_PAIR, MODELS_OF_RUN
from tessera.core.results.schema import columns
from tessera.core.results.table_io import UnreadableTable, counting_rows, frame_of, read_file, write_table

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "tessera"
LAYOUT_NAMES = {"growing-0", "growing-8", "1gb"}


def documented() -> set[str]:
    """Paths of the page of tables, and of its list of other files."""
    tables, others = (ROOT / RESULTS_PAGE).read_text().split("\n## Other files\n")
    rows = re.findall(r"^\| `(.*?)`", others, re.MULTILINE)
    return {*re.findall(r"^### `(.*)`$", tables, re.MULTILINE), *rows}


def spelled() -> dict[str, str]:
    """Path with ``*`` for every argument -> the member of ``ResultsTree`` that spells it."""
    return {path: name for name, (path, _) in members().items()}


def test_every_path_of_the_page_is_spelled_by_the_tree_and_the_other_way():
    paths, known = documented(), spelled()
    assert not {path for path in paths if not any(fnmatch(path, other) for other in known)}
    assert not {other for other in known if not any(fnmatch(path, other) for path in paths)}


def test_every_table_has_its_part_of_the_page_and_every_csv_its_table():
    patterns = {table.pattern for table in TABLES.values()}
    tables = {path for path in documented() if path.endswith(".csv")}
    assert tables - patterns == {"layouts/*/*/*.csv"}
    assert not patterns - documented()


def test_the_page_of_tables_is_that_of_the_schema():
    """Every column with its unit and sentence: remake it with python -m tessera.core.results.catalogue."""
    assert (ROOT / RESULTS_PAGE).read_text() == results_page()


def test_a_table_of_the_run_has_the_pair_in_front_of_the_pairs_own_columns():
    for name, table in MODELS_OF_RUN.items():
        assert table.names == ("workload", "platform", *MODELS_OF_PAIR[name].names)


@pytest.mark.parametrize("text", ["a text - x\na text - y", "a word - x"])
def test_columns_declared_twice_or_of_no_kind_are_refused(text):
    with pytest.raises(ValueError, match="declared"):
        columns(text)


# -- reading and writing

ROW = {"layout": "growing-3", "heuristic": "growing", "parameter": "3", "pages_2mb": 7}


def test_what_is_written_is_read_back_typed(tmp_path):
    path = tmp_path / "manifest.csv"
    write_table(MANIFEST, frame_of(MANIFEST, [ROW, ROW | {"layout": "2mb", "pages_2mb": None}]), path)
    assert path.read_text().splitlines()[1:] == ["growing-3,growing,3,7,,", "2mb,growing,3,,,"]
    table = read_file(MANIFEST, path)
    assert table["layout"].tolist() == ["growing-3", "growing-8"] and table["duplicate_of"].tolist() == [
        "",
        "",
    ]
    assert table["pages_2mb"].dtype == "float64" and table["pages_2mb"].isna().tolist() == [False, True]
    path.write_text(path.read_text().replace("2mb,growing,3,,,", "2mb,growing,3,9,0,"))
    assert read_file(MANIFEST, path)["pages_2mb"].tolist() == [7, 9]
    assert str(read_file(MANIFEST, path)["pages_2mb"].dtype) == "int64"


@pytest.mark.parametrize(
    ("text", "code", "values"),
    [
        (None, "table-absent", []),
        ("", "table-content", []),
        ("layout,heuristic\na,b\n", "table-columns", ["parameter, pages_2mb, pages_1gb, duplicate_of"]),
        (
            "layout,heuristic,parameter,pages_2mb,pages_1gb,duplicate_of\na,b,,many,0,\n",
            "table-content",
            ["pages_2mb", "'many'"],
        ),
    ],
    ids=[
        "None-no such file",
        "-cannot be read",
        "layout,heuristic\na,b\n-lacks parameter, pages_2mb, pages_1gb, duplicate_of",
        "layout,heuristic,parameter,pages_2mb,pages_1gb,duplicate_of\na,b,,many,0,\n-pages_2mb holds 'many'",
    ],
)
def test_a_damaged_table_says_what_is_wrong_with_it(tmp_path, text, code, values):
    if text is not None:
        (tmp_path / "manifest.csv").write_text(text)
    with pytest.raises(UnreadableTable) as error:
        read_file(MANIFEST, tmp_path / "manifest.csv", "the manifest")
    assert (error.value.asked, error.value.code) == ("the manifest", code)
    assert [value for value in values if value not in error.value.found] == []
    assert error.value.absent == (text is None)


def test_other_columns_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="manifest: columns layout"):
        write_table(MANIFEST, pd.DataFrame({"layout": ["a"]}), tmp_path / "manifest.csv")
    assert not list(tmp_path.iterdir())


def test_which_rows_count():
    rows = [
        {"layout": "a", "status": "ok"},
        {"layout": "b", "status": "failed"},
        {"layout": "c", "status": "skipped"},
    ]
    assert counting_rows(CELLS, frame_of(CELLS, rows))["layout"].tolist() == ["a"]
    errors = frame_of(
        MODELS_OF_PAIR["errors"], [{"model": "m", "max_error": 0.1}, {"model": "n", "message": "singular"}]
    )
    assert counting_rows(MODELS_OF_PAIR["errors"], errors)["model"].tolist() == ["m"]


# -- nobody else


def modules():
    """(path inside src/tessera, syntax tree) of every module outside tessera.core.results."""
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith("core/results/"):
            yield name, ast.parse(path.read_text())


def strings(node) -> list[str]:
    return [
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]


#: What reads text of people and other programs, and the papers' numbers.
FOREIGN = {
    "core/table_file.py", "core/reference/published_tables.py", "lab/kernel/cost_experiments.py",
    "lab/kernel/update_costs.py", "lab/studies/intervals.py",
}  # fmt: skip


def test_results_are_read_with_pandas_in_one_place():
    found = {
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("read_csv", "read_parquet")
    }
    assert found == FOREIGN


#: Files of these names that are no results: scratch tables of the simulator, the list of data sets.
OTHERS = {
    ("measure/suggest/simulation.py", "misses.csv"), ("record/datasets.py", "manifest.csv"),
    ("report/explore/miss_heat.py", "misses.csv"), ("simulate/sampling.py", "intervals.csv"),
}  # fmt: skip


def test_no_path_of_the_tree_is_spelled_elsewhere():
    files = {table.file for table in TABLES.values()} - {"*.csv"}
    files |= {PurePosixPath(path).name for path in spelled() if "*" not in PurePosixPath(path).name}
    files -= {"index.html", "cache", ".lock", "info.json", "fit.json", "intervals.json", "trace.tst"}
    wrong = []
    for name, tree in modules():
        for node in ast.walk(tree):
            parts = []
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
                parts = [node.left, node.right]
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in (
                "glob",
                "rglob",
                "with_name",
            ):
                parts = node.args
            for text in (text for part in parts for text in strings(part)):
                if PurePosixPath(text).name in files and (name, text) not in OTHERS:
                    wrong.append(f"{name}:{node.lineno}: {text}")
    assert not wrong


def test_a_status_is_compared_in_one_place():
    wrong = [
        f"{name}:{node.lineno}"
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and "ok" in {one.value for one in [node.left, *node.comparators]
                                                      if isinstance(one, ast.Constant)}
    ]  # fmt: skip
    assert not wrong


def test_the_layouts_that_the_method_names_are_named_once():
    """Of doubles in another sense: a condition of the allocator's tests, keys of a platform by page size."""
    other = {"core/layouts/layout.py", "lab/allocator_proof/suite/cases.py", "lab/validation/engines.py"}
    wrong = [
        f"{name}:{node.lineno}: {node.value}"
        for name, tree in [
            *modules(),
            *((p.name, ast.parse(p.read_text())) for p in (SOURCE / "core/results").glob("*.py")),
        ]
        if name not in other
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and node.value in LAYOUT_NAMES
    ]
    assert not wrong
