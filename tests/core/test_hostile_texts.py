"""Texts of files stay texts: schemas refuse commands, one reader reads all YAML, terminals show escapes."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise

import pytest

from tessera.core import terminal
from tessera.core.configuration_files import CONFIGURATION, SCHEMAS, Document, fault_of
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tests.in_process import tessera

from .terminal import on_terminal

ROOT = repo_root()
HOSTILE = "'; touch X #"
#: Trees that a schema leaves open: evaluators check parameters of claims, and platforms the values of a core.
OPEN = {
    "claims/shared", "claims/parameters", "claims/readings/*", "claims/beside/parameters", "claims/where",
    "core-generation/values",
}  # fmt: skip


def texts(schema: object, place: str) -> Iterator[tuple[str, dict | None]]:
    """(place, schema) of each text and key that a schema allows; None where it allows any tree."""
    if isinstance(schema, list):
        for one in schema:
            yield from texts(one, place)
        return
    if not isinstance(schema, dict):
        return
    types = schema.get("type", [])
    if "string" in ([types] if isinstance(types, str) else types):
        yield place, schema
    if types == "object" and not {"properties", "additionalProperties"} & set(schema):
        yield place, None
    elif isinstance(schema.get("additionalProperties"), dict):
        yield f"{place}/<key>", schema.get("propertyNames", {})
        yield from texts(schema["additionalProperties"], f"{place}/*")
    for key in ("properties", "$defs"):
        for name, below in schema.get(key, {}).items():
            above = place if key == "properties" else place.partition("/")[0]
            yield from texts(below, f"{above}/{name}")
    for key in ("items", "oneOf", "allOf", "anyOf"):
        yield from texts(schema.get(key), place)


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.name.partition(".")[0])
def test_a_text_has_a_form_or_is_prose_of_one_printable_line(path):
    """Prose is shown to people, or is a word of an argument list; no rule of the workflow has it."""
    name, found = path.name.partition(".")[0], 0
    for place, schema in texts(json.loads(path.read_text()), name):
        found += 1
        if schema is None:
            assert place.replace("claim/evaluator/", "").replace("printed/", "") in OPEN, place
        elif "$ref" in schema:  # its target is one of $defs
            continue
        elif schema.get("format") == "printable":
            assert name != "config" and fault_of("\x1b[31m", schema) and fault_of("a\u202eb.", schema), place
        else:
            assert fault_of(HOSTILE, schema) and fault_of(f"a{HOSTILE}", schema), place
            assert re.fullmatch(r"\^.*\$", schema.get("pattern", "^$")), place
    assert found


def leaves(tree: object, path: tuple = ()) -> Iterator[tuple[tuple, bool]]:
    """Path of each text (False) and each key (True) of a configuration."""
    if isinstance(tree, dict):
        for key, below in tree.items():
            yield (*path, key), True
            yield from leaves(below, (*path, key))
    elif isinstance(tree, list):
        for at, below in enumerate(tree[:1]):
            yield from leaves(below, (*path, at))
    elif isinstance(tree, str):
        yield path, False


def test_each_text_and_key_of_a_configuration_is_refused_as_a_command():
    tried: set[str] = set()
    for path in sorted((ROOT / "config").glob("*.yaml")):
        if path.stem in ("claims", "coverage", "proof-reading"):
            continue
        good = CONFIGURATION.read(path)
        for at, is_key in leaves(good):
            kind = re.sub(r"(workloads|programs|windows|also)/[^/]+", r"\1/NAME", "/".join(map(str, at)))
            kind += " key" * is_key
            if kind in tried:
                continue
            tried.add(kind)
            tree = json.loads(json.dumps(good))
            above = tree
            for step in at[:-1]:
                above = above[step]
            if is_key:
                above[HOSTILE] = above.pop(at[-1])
            else:
                above[at[-1]] = HOSTILE
            with pytest.raises(TesseraError):
                CONFIGURATION.check(tree, path)
    assert len(tried) > 100


FOLDERS = ("src", "notebooks", "examples", "investigations")
PYTHON = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]


def test_one_module_reads_yaml():
    wrong = []
    for path in PYTHON:
        text = path.read_text()
        if "yaml" not in text or path.name == "configuration_files.py":
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("yaml", "ruamel"):
                wrong.append(f"{path}: from {node.module} import")
            if isinstance(node, ast.Import) and any(one.name.startswith("ruamel") for one in node.names):
                wrong.append(f"{path}: ruamel")
            used = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
            if re.fullmatch(r"yaml\.\w+", used) and used != "yaml.safe_dump":
                wrong.append(f"{path}: {used}")
    assert wrong == [] and any("yaml.safe_dump" in path.read_text() for path in PYTHON)


def test_aliases_that_grow_are_refused_where_anchors_are_allowed():
    lines = ["a: &a [1, 2, 3, 4, 5, 6, 7, 8, 9]"]
    for old, new in pairwise("abcdefghi"):
        lines.append(f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]")
    with pytest.raises(TesseraError, match="more than 20000 keys and entries"):
        Document("file", None, "", anchors=True).parse("\n".join(lines).encode(), "f.yaml")


#: How a text that a shell reads, or a list of words, must not be made.
SPLIT = re.compile(r"""\bf(["'])(?:(?!\1)[^\n])*\{(?:(?!\1)[^\n])*\1\.split\(\)""")


def test_one_function_evaluates_a_text_and_no_shell_is_implied():
    """The formulas of our claims, whose syntax tree has only arithmetic."""
    code = re.compile(
        r"\b(?:eval|exec)\(|os\.(?:system|popen)\(|shell=True|getoutput|import pickle|verify=False"
    )
    found = [(path, one) for path in (ROOT / "src").rglob("*.py") for one in code.findall(path.read_text())]
    assert found == [(ROOT / "src/tessera/report/claims/formula.py", "eval(")]


def test_no_value_is_put_into_a_text_that_is_split_or_given_to_a_shell():
    wrong = []
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text()
        wrong += [f"{path}: {found[0]}" for found in SPLIT.finditer(text)]
        if '"-c"' in text:
            for node in ast.walk(ast.parse(text)):
                wrong += [f"{path}:{node.lineno}: {word}" for word in _formatted_commands(node)]
    assert wrong == []


def _formatted_commands(node: ast.AST) -> Iterator[str]:
    """Texts behind ``sh -c`` in a list that contain a value which is no constant in capitals."""
    words = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    for shell, option, command in zip(words, words[1:], words[2:], strict=False):
        starts = [one.value if isinstance(one, ast.Constant) else None for one in (shell, option)]
        is_shell = str(starts[0]).rpartition("/")[2] in ("sh", "bash") and starts[1] == "-c"
        if is_shell and isinstance(command, ast.JoinedStr):
            values = [part.value for part in command.values if isinstance(part, ast.FormattedValue)]
            if not all(isinstance(one, ast.Name) and one.id.strip("_").isupper() for one in values):
                yield ast.unparse(command)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain \t text\nof two lines\r\n", "plain \t text\nof two lines\r\n"),
        ("caf\xe9 \u20ac \U0001f600 \u4e2d", "caf\xe9 \u20ac \U0001f600 \u4e2d"),
        ("\x1b]0;x\x07", "\\x1b]0;x\\x07"),
        ("a\rb", "a\\rb"),
        ("\x9b31m\x7f\x00", "\\x9b31m\\x7f\\x00"),
        ("\u202e\u2066\u200b\ufeff", "\\u202e\\u2066\\u200b\\ufeff"),
        ("\udcff", "\\udcff"),
    ],
)
def test_what_a_terminal_must_not_obey_is_shown(text, escaped):
    assert terminal.shown(text) == escaped


def test_the_tracer_hides_the_same_characters():
    source = (ROOT / "artifacts" / "tracer" / "lib" / "printable.cpp").read_text()
    ranges = [(int(a, 16), int(b, 16)) for a, b in re.findall(r"Range\{(0x\w+|0), (0x\w+)\}", source)]
    assert len(ranges) == 12
    for code in (*range(0x3100), *range(0xFE00, 0x10000), *range(0xE0000, 0xE0200), 0x10FFFF, 0x1F600):
        hidden = any(first <= code <= last for first, last in ranges) and chr(code) not in "\t\n"
        assert (terminal.shown(chr(code)) != chr(code)) == hidden, hex(code)


def test_an_error_message_is_escaped():
    done = tessera("platform", "check", "p\x1b]0;x\x07\u202eq")
    assert done.returncode == 2 and "p\\x1b]0;x\\x07\\u202eq" in done.stderr


def test_a_table_and_a_line_on_a_terminal_are_escaped_and_heads_keep_their_style():
    written = on_terminal(
        "from tessera.core.tables import print_table\n"
        "from tessera.core.terminal import escaped_streams\n"
        "from tessera.core.progress import Bars\n"
        "import sys\n"
        "with escaped_streams():\n"
        "    print_table(['head'], [['\\x1b[2Jcell']])\n"
        "    print('\\x1b[2Jline')\n"
        "    bars = Bars()\n"
        "    bars.update('\\x1b[2Jbar', 1, 2)\n"
        "    print('\\x1b[2Jabove', file=sys.stderr)\n"
        "    bars.say('\\x1b[2Jsaid')\n"
        "    bars.close()\n"
        "    print('\\x1b[2Jbelow', file=sys.stderr)\n"
    )
    assert "\x1b[1m" in written and "\x1b[2J" not in written
    for word in ("cell", "line", "bar", "above", "said", "below"):
        assert f"\\x1b[2J{word}" in written, word


def test_data_on_a_pipe_are_as_they_are():
    code = "from tessera.core.terminal import escaped_streams\nwith escaped_streams(): print('\\x1b')"
    env = {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
    assert done.stdout == b"\x1b\n"
