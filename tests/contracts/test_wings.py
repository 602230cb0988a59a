"""The wings of `src/tessera`: docs/architecture.md draws them, every import keeps to the drawing.

An import counts wherever it stands: at the top of a module, inside a function, or under `TYPE_CHECKING`.
"""

import ast
import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
MOST_WINGS = 9
MOST_LINES = 10  #: of a wing's docstring


def drawn_wings():
    """The wings from bottom to top, from the drawing in docs/architecture.md."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    block = re.search(r"## Wings of `src/tessera`.*?```\n(.*?)```", text, re.DOTALL).group(1)
    return [line.split()[0] for line in reversed(block.splitlines()) if line.strip() and line[0] != " "]


WINGS = drawn_wings()


def modules(source=SOURCE):
    """Dotted name -> path of every module of the package."""
    found = {}
    for path in source.rglob("*.py"):
        name = ".".join(path.relative_to(source).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def imports(name, path, known):
    """Dotted names of the modules of the package that this one imports, at whatever depth."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            asked = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = (
                ".".join(package.split(".")[: len(package.split(".")) - node.level + 1]) if node.level else ""
            )
            base = ".".join(part for part in (base, node.module) if part)
            asked = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for target in asked:
            while target and target not in known:
                target = target.rpartition(".")[0]
            if target.startswith("tessera."):
                yield target


def edges(source=SOURCE):
    """(module, imported module) of the whole package; a module's import of itself is one, too."""
    known = modules(source)
    return [(name, target) for name, path in known.items() for target in imports(name, path, known)]


def wing(name):
    return name.split(".")[1]


def upward(found, wings):
    """Imports of a wing that is above the importer's."""
    return [(a, b) for a, b in found if wings.index(wing(b)) > wings.index(wing(a))]


def circle(found):
    """Modules that import each other in a circle, or an empty list. The names are whole: none is cut off.

    A package whose `__init__` imports its own modules is no circle with them: what they import from the
    package is.
    """
    graph = defaultdict(set)
    for a, b in found:
        if a != b:
            graph[a].add(b)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


@pytest.fixture(scope="module")
def found():
    """Imports of all modules below the package itself."""
    return [(a, b) for a, b in edges() if a not in ("tessera", "tessera.__main__")]


def test_every_wing_is_drawn():
    here = {p.name for p in (SOURCE / "tessera").iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert here == set(WINGS)
    assert len(WINGS) <= MOST_WINGS
    loose = {p.name for p in (SOURCE / "tessera").glob("*.py")}
    assert loose == {"__init__.py", "__main__.py"}


@pytest.mark.parametrize("name", WINGS)
def test_a_wing_says_what_is_in_it(name):
    tree = ast.parse((SOURCE / "tessera" / name / "__init__.py").read_text())
    text = ast.get_docstring(tree)
    assert len(text.splitlines()) <= MOST_LINES
    assert "Imports " in text and "Start with " in text
    for folder in (SOURCE / "tessera" / name).iterdir():
        if folder.is_dir() and folder.name != "__pycache__":
            assert f"`{folder.name}`" in text, f"{name} does not name {folder.name}"
    for target in re.findall(r"`([\w.]+)`", text[text.index("Start with ") :]):
        path = SOURCE / "tessera" / name / target.replace(".", "/")
        assert path.with_suffix(".py").is_file() or path.is_dir(), f"{name} starts with {target}"


def test_imports_go_down(found):
    assert len(found) > 1000
    assert upward(found, WINGS) == []


def test_no_circle_among_modules(found):
    assert circle(found) == []


def test_an_upward_import_in_a_function_is_found(tmp_path):
    for name, text in {
        "low/__init__.py": "",
        "low/a.py": "def late():\n    from tessera.high import b\n",
        "high/__init__.py": "",
        "high/b.py": "from ..low import a\n",
    }.items():
        path = tmp_path / "tessera" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "tessera" / "__init__.py").write_text("")
    made = edges(tmp_path)
    assert upward(made, ["low", "high"]) == [("tessera.low.a", "tessera.high.b")]
    assert set(circle(made)) == {"tessera.low.a", "tessera.high.b"}
