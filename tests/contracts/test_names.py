"""Names: no two public classes of one name; docs/glossary.md names things that exist."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "tessera"
MOST_TERMS = 40
#: A class of this name says what it is for, not what it is.
AT_MOST = {"Request": 0}


def public_classes():
    """Name -> places of public classes at the top of a module, over all wings."""
    found = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    return found


def terms():
    """Rows of the glossary: (term, meaning, unit, code)."""
    lines = [line for line in (ROOT / "docs" / "glossary.md").read_text().splitlines() if line[:2] == "| "]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines[1:]]


def test_a_class_has_a_name_of_its_own():
    assert {name: places for name, places in public_classes().items() if len(places) > 1} == {}


@pytest.mark.parametrize("ending", AT_MOST)
def test_classes_are_not_named_for_their_use(ending):
    assert len([name for name in public_classes() if name.endswith(ending)]) <= AT_MOST[ending]


def test_the_glossary_is_short_and_explains_each_term_once():
    assert 0 < len(terms()) <= MOST_TERMS
    assert len({term for term, *_ in terms()}) == len(terms())
    assert [row for row in terms() if len(row) != 4 or not row[1]] == []


def file_of(module):
    path = SOURCE / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def is_bound(node):
    return isinstance(node.ctx, ast.Store)


def defines(path, name):
    """Whether a module binds the name at its top level."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return True
        if isinstance(node, ast.Assign | ast.AnnAssign):
            if name in {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and is_bound(each)}:
                return True
    return False


@pytest.mark.parametrize("row", terms(), ids=lambda row: row[0])
def test_each_term_of_the_glossary_exists(row):
    code = re.fullmatch(r"`([\w.]+)`", row[3]).group(1)
    module, _, name = code.rpartition(".")
    assert file_of(code).is_file() or defines(file_of(module), name), f"{row[0]}: no {code}"
