"""docs/moved.csv: where readers of older notes find a file or a name today."""

import ast
import csv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"file", "name", "command", "table", "column", "value"}


def rows():
    with (ROOT / "docs" / "moved.csv").open(newline="") as stream:
        return [(row["kind"], row["old"], row["new"]) for row in csv.DictReader(stream)]


def defined(path):
    """Names that a file binds at its top level, imports included."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
        else:
            found |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return found


def file_of(module):
    path = ROOT / "src" / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def test_each_old_place_has_one_row():
    found = rows()
    assert {kind for kind, *_ in found} <= KINDS
    assert len({(kind, old) for kind, old, _ in found}) == len(found) > 1500


def test_what_moved_is_where_the_table_says():
    files = [new for kind, _, new in rows() if kind == "file"]
    assert [new for new in files if not (ROOT / new).is_file()] == []


def test_renamed_names_are_defined_there():
    wrong, known = [], {}
    for kind, _, new in rows():
        if kind == "name":
            module, _, name = new.rpartition(".")
            names = known.setdefault(module, defined(file_of(module)))
            wrong += [new] if name not in names else []
    assert wrong == []
