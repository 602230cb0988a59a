"""The rooms of `src/tessera`: docs/architecture.md draws them, every import keeps to the drawing.

An import counts wherever it stands: at the top of a module, inside a function, or under `TYPE_CHECKING`.
"""

import ast
import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"


def drawn_levels():
    """Room -> level (0 is the lowest), from the drawing in docs/architecture.md."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    block = re.search(r"## Rooms of `src/tessera`.*?```\n(.*?)```", text, re.DOTALL).group(1)
    rows = [re.split(r"\s{2,}", line.strip())[0].split() for line in block.splitlines() if line.strip()]
    return {room: level for level, row in enumerate(reversed(rows)) for room in row}


LEVEL = drawn_levels()


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
    """(module, imported module) of the whole package; a package's own parts included."""
    known = modules(source)
    return [(name, target) for name, path in known.items() for target in imports(name, path, known)]


def room(name):
    return name.split(".")[1]


def upward(found, level):
    """Imports of a room that is not below the importer's."""
    return [(a, b) for a, b in found if room(a) != room(b) and level[room(b)] >= level[room(a)]]


def cycle(found, depth):
    """Names of packages of this depth that import each other in a circle, or an empty list."""
    graph = defaultdict(set)
    for a, b in found:
        one, other = (".".join(name.split(".")[:depth]) for name in (a, b))
        if one != other:
            graph[one].add(other)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def in_rooms():
    return [(a, b) for a, b in edges() if a not in ("tessera", "tessera.__main__")]


def test_every_room_is_drawn():
    here = {p.name for p in (SOURCE / "tessera").iterdir() if p.is_dir() and p.name != "__pycache__"}
    assert here == set(LEVEL)
    loose = {p.name for p in (SOURCE / "tessera").glob("*.py")}
    assert loose == {"__init__.py", "__main__.py"}


def test_imports_go_down():
    found = in_rooms()
    assert len(found) > 1000
    assert upward(found, LEVEL) == []


def test_no_circle_among_the_parts_of_a_room():
    assert cycle(in_rooms(), 3) == []


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
    found = edges(tmp_path)
    assert upward(found, {"low": 0, "high": 1}) == [("tessera.low.a", "tessera.high.b")]
    assert set(cycle(found, 2)) == {"tessera.low", "tessera.high"}
