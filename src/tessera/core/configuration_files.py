"""Files that people write or strangers send: strict YAML and JSON, compared with a JSON Schema.

:class:`Document` reads one kind of file. The schemas are in ``workflow/schemas``.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from tessera.core.errors import EXIT_USAGE, TesseraError

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_ENTRIES = 20_000  #: claims.yaml has 8,556
DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,18})")
#: Part of the program, as this file is: not of the checkout that ``$TESSERA_ROOT`` names.
SCHEMAS = Path(__file__).resolve().parents[3] / "workflow" / "schemas"


@dataclass(frozen=True)
class Document:
    """A kind of file: how messages call it, the schema of its tree, and what mends it.

    Attributes:
        schema: name of a file of :data:`SCHEMAS`, a schema, or None: any tree.
        code: begins the codes of errors: ``<code>-key`` (unknown, missing, twice), ``-value``, ``-size``,
            ``-yaml``, ``-json`` and ``-absent``.
        anchors: whether YAML may have anchors and aliases: only in files that come with Tessera.
    """

    what: str
    schema: str | Mapping[str, Any] | None
    remedy: str
    code: str = ""
    exit_code: int = EXIT_USAGE
    anchors: bool = False

    def read(self, path: Path) -> Any:
        """The tree of a file: dicts with string keys, lists, strings, numbers, booleans, None.

        Raises:
            TesseraError: unreadable, or as :meth:`parse`.
        """
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except OSError as error:
            fault = _Fault(str(error.strerror), "absent", remedy="check the path")
            raise self._error(path, fault) from None
        return self.parse(data, path)

    def parse(self, data: bytes, name: Path | str) -> Any:
        """As :meth:`read`, from the bytes of a file; JSON if its name says so, else YAML.

        Raises:
            TesseraError: beyond MAX_BYTES, MAX_ENTRIES or MAX_DEPTH, not UTF-8, a key twice, NaN, what the
                strict YAML below refuses, or as :meth:`check`.
        """
        form = "json" if str(name).endswith(".json") else "yaml"
        try:
            if len(data) > MAX_BYTES:
                raise _Fault(f"the file has more than {MAX_BYTES} bytes", "size")
            text = data.decode()
            tree = parse_json(text) if form == "json" else parse_yaml(text, self.anchors)
            _entries(tree)
        except UnicodeDecodeError as error:
            raise self._error(name, _Fault(f"byte {error.start} is not UTF-8", form)) from None
        except (ValueError, RecursionError, yaml.YAMLError) as error:
            raise self._error(name, _syntax_fault(error, form)) from None
        return self.check(tree, name, text if form == "yaml" else "")

    def check(self, tree: Any, name: Path | str, text: str = "") -> Any:
        """``tree`` itself; ``text`` is its YAML, from which messages take the line.

        Raises:
            TesseraError: the first place in the order of the file that breaks the schema.
        """
        if self.schema is None:
            return tree
        if fault := _first_fault(self._validator, tree):
            if text:
                fault.line = _line_of(text, fault.path)
            raise self._error(name, fault)
        return tree

    @cached_property
    def _validator(self) -> Any:
        schema = self.schema
        return _validator_class()(named_schema(schema) if isinstance(schema, str) else schema)

    def _error(self, name: Path | str, fault: _Fault) -> TesseraError:
        line = [f"line {fault.line}"] if fault.line else []
        where = ["/".join(map(_shown_key, fault.path))] if fault.path else []
        return TesseraError(
            ", ".join([f"{self.what} {name}", *line, *where]),
            fault.found,
            "; ".join(filter(None, (fault.remedy, self.remedy))),
            exit_code=self.exit_code,
            code=f"{self.code}-{fault.kind}" if self.code else "",
        )


def fault_of(value: object, schema: Mapping[str, Any]) -> str:
    """Why ``value`` breaks a schema; empty if it does not."""
    fault = _first_fault(_validator_class()(schema), value)
    return fault.found if fault else ""


@cache
def named_schema(name: str) -> dict[str, Any]:
    """A schema of :data:`SCHEMAS`."""
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text())


class _Fault(ValueError):
    """What is wrong at ``path``; ``kind`` ends the code."""

    def __init__(
        self, found: str, kind: str, path: Sequence[Any] = (), remedy: str = "", behind: bool = False
    ):
        super().__init__(found)
        self.found, self.kind, self.path, self.remedy, self.line = found, kind, path, remedy, 0
        self.behind = behind  #: what is in the path comes first in the file


def _syntax_fault(error: Exception, form: str) -> _Fault:
    if isinstance(error, _Fault):
        return error
    if isinstance(error, RecursionError):
        return _Fault(f"nested deeper than {MAX_DEPTH} levels", form)
    mark = getattr(error, "problem_mark", None)
    fault = _Fault(f"not {form.upper()}: {getattr(error, 'problem', error)}", form)
    fault.line = mark.line + 1 if mark else 0
    return fault


# Strict JSON and a strict subset of YAML: plain trees, without silent conversions.
#
# PyYAML and json keep the last of two equal keys and read NaN and Infinity. PyYAML expands aliases (a few
# lines can grow to gigabytes), merges ``<<``, and reads ``010`` as 8 and ``1:30`` as 90. Each of these is an
# error here, in YAML with its line.


def parse_json(text: str) -> object:
    """The tree of a JSON text. Raises ValueError or RecursionError."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in pairs:
            if key in found:
                raise _Fault(f"key {_shown(key)} is given twice", "key")
            found[key] = value
        return found

    def number(text: str) -> float:
        if DECIMAL.fullmatch(text):
            return int(text)
        if not math.isfinite(value := float(text)) or re.fullmatch(r"-?\d+", text, re.ASCII):
            raise _Fault(f"{_shown(text)} is not a number of at most 19 digits", "value")
        return value

    return json.loads(
        text, object_pairs_hook=once, parse_constant=number, parse_float=number, parse_int=number
    )


def _entries(tree: object, levels: int = MAX_DEPTH) -> int:
    """Number of keys and entries. Raises _Fault for too many of them, RecursionError for too many levels."""
    below = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    if levels < 0:
        raise RecursionError
    count = 1 + sum(_entries(value, levels - 1) for value in below)
    if count > MAX_ENTRIES:
        raise _Fault(f"more than {MAX_ENTRIES} keys and entries", "size")
    return count


#: libyaml's scanner where PyYAML was built with it: several times faster.
_Scanner: Any = yaml.SafeLoader if not yaml.__with_libyaml__ else yaml.cyaml.CParser


class _StrictLoader(Composer, _Scanner, SafeConstructor, Resolver):
    with_anchors = False

    def __init__(self, text: str):
        _Scanner.__init__(self, text)
        Composer.__init__(self)
        SafeConstructor.__init__(self)
        Resolver.__init__(self)
        self.depth = 0

    def compose_node(self, parent, index):
        event = self.peek_event()
        alias = isinstance(event, yaml.events.AliasEvent)
        if not self.with_anchors and (alias or getattr(event, "anchor", None) is not None):
            raise _yaml_fault("an anchor or alias; write the value where it is used", event.start_mark)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _yaml_fault(f"nested deeper than {MAX_DEPTH} levels", event.start_mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def flatten_mapping(self, node):
        """PyYAML would merge ``<<`` here."""

    def construct_mapping(self, node, deep=False):
        found: dict[str, object] = {}
        for key, value in node.value:
            if key.tag not in ("tag:yaml.org,2002:str", "tag:yaml.org,2002:int"):
                raise _yaml_fault(f"key '{_node_text(key)}' is not a word", key.start_mark, "key")
            if key.value in found:
                raise _yaml_fault(f"key '{_node_text(key)}' is given twice", key.start_mark, "key")
            try:
                found[key.value] = self.construct_object(value, deep=True)
            except _Fault as fault:
                fault.path = [key.value, *fault.path]
                raise
        return found

    def construct_whole_number(self, node):
        if not isinstance(node, yaml.ScalarNode) or not DECIMAL.fullmatch(node.value):
            problem = f"'{_node_text(node)}' is not a whole number in plain decimal digits"
            raise _yaml_fault(problem, node.start_mark, "value")
        return int(node.value)

    def construct_yaml_float(self, node):
        value = super().construct_yaml_float(node)
        if not math.isfinite(value):
            raise _yaml_fault(f"'{_node_text(node)}' is not a number", node.start_mark, "value")
        return value


class _LoaderWithAnchors(_StrictLoader):
    with_anchors = True


# A mapping is built at once, not by PyYAML's generator, so that construct_mapping sees every one.
_StrictLoader.add_constructor("tag:yaml.org,2002:map", _StrictLoader.construct_mapping)
_StrictLoader.add_constructor("tag:yaml.org,2002:int", _StrictLoader.construct_whole_number)
_StrictLoader.add_constructor("tag:yaml.org,2002:float", _StrictLoader.construct_yaml_float)
_LoaderWithAnchors.yaml_constructors = _StrictLoader.yaml_constructors


def parse_yaml(text: str, anchors: bool = False) -> object:
    """The tree of a YAML text. Raises ValueError (also for timestamps that Python refuses) or YAMLError."""
    return yaml.load(text, Loader=_LoaderWithAnchors if anchors else _StrictLoader)  # noqa: S506 (safe)


def _node_text(node: yaml.Node) -> str:
    return str(node.value)[:80] if isinstance(node, yaml.ScalarNode) else f"a {node.id}"


def _yaml_fault(problem: str, mark: yaml.Mark, kind: str = "yaml") -> _Fault:
    fault = _Fault(problem, kind)
    fault.line = mark.line + 1
    return fault


def _line_of(text: str, path: Sequence[Any]) -> int:
    """Line of a place in a YAML text."""
    place = node = _LoaderWithAnchors(text).get_single_node()
    for step in path:
        if isinstance(node, yaml.MappingNode):
            place, node = next(pair for pair in node.value if pair[0].value == step)
        else:
            place = node = node.value[step]
    return place.start_mark.line + 1 if place else 0


# The first place that breaks a schema, in words.

_KINDS = {
    "string": "text", "integer": "a whole number", "number": "a number", "array": "a list",
    "object": "a table of keys", "boolean": "true or false", "null": "nothing",
}  # fmt: skip
_LIMITS = {
    "minimum": "of at least {}", "exclusiveMinimum": "above {}", "maximum": "of at most {}",
    "exclusiveMaximum": "below {}", "multipleOf": "that is a multiple of {}", "pattern": "of the form {}",
    "minLength": "of at least {} characters", "maxLength": "of at most {} characters",
    "minItems": "of at least {} entries", "maxItems": "of at most {} entries",
    "minProperties": "of at least {} keys", "uniqueItems": "without repetitions",
    "contains": "with an entry {}",
}  # fmt: skip


@cache
def _validator_class() -> Any:
    """Draft 2020-12; a whole number is no float, a number is finite, ``$`` is the end of the text."""
    library = jsonschema()
    base = library.Draft202012Validator

    def number(_: object, value: object) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)

    def pattern(_: object, form: str, value: object, schema: object) -> Iterator[Exception]:
        if isinstance(value, str) and not re.search(re.sub(r"\$$", r"\\Z", form), value, re.ASCII):
            yield library.ValidationError("")

    def printable(_: object, name: str, value: object, schema: object) -> Iterator[Exception]:
        if name == "printable" and isinstance(value, str) and not value.isprintable():
            yield library.ValidationError("")

    types = base.TYPE_CHECKER.redefine_many(
        {"integer": lambda _, value: type(value) is int, "number": number}
    )
    own = {"pattern": pattern, "format": printable}
    return library.validators.extend(base, own, type_checker=types)


def _first_fault(validator: Any, tree: Any) -> _Fault | None:
    orders: dict[int, dict[object, int]] = {}

    def position(fault: _Fault) -> list[float]:
        found: list[float] = []
        node = tree
        for step in fault.path:
            if isinstance(node, dict) and id(node) not in orders:
                orders[id(node)] = {key: at for at, key in enumerate(node)}
            found.append(orders[id(node)][step] if isinstance(node, dict) else step)
            node = node[step]
        return found + [math.inf] * fault.behind

    faults = (_fault(_deepest(error)) for error in validator.iter_errors(tree))
    return min(faults, key=position, default=None)


def _deepest(error: Any) -> Any:
    """Of several forms that a value may have: what is wrong with the one that has the fewest errors."""
    while error.context:
        forms = Counter(one.schema_path[0] for one in error.context)
        error = min(error.context, key=lambda one: forms[one.schema_path[0]])
    return error


def _fault(error: Any) -> _Fault:
    """One error of jsonschema in our words."""
    schema, value, path = error.schema, error.instance, list(error.absolute_path)
    if error.validator == "additionalProperties" and schema["additionalProperties"] is False:
        valid = list(schema.get("properties", ()))
        key = next(key for key in value if key not in valid)
        return _Fault("unknown key", "key", [*path, key], _nearest(key, valid, "keys here are"))
    if error.validator == "required":
        missing = [key for key in schema["required"] if key not in value]
        return _Fault(f"keys missing: {', '.join(missing)}", "key", path, behind=True)
    if error.validator == "not":
        rule = schema["not"].get("description") or f"not {_rule(schema['not'])}"
        keys = " and ".join(schema["not"].get("required", ()))
        return _Fault(f"{keys} together: {rule}" if keys else f"it must be {rule}", "value", path)
    if "propertyNames" in error.absolute_schema_path:
        return _Fault(f"a key here must be {_rule(schema)}", "key", [*path, value])
    remedy = ""
    if isinstance(value, str) and "enum" in schema:
        remedy = _nearest(value, [str(one) for one in schema["enum"]])
    elif "string" in _types(schema) and isinstance(value, int | float) and not isinstance(value, bool):
        remedy = f'write it in quotes: "{value}"'
    return _Fault(f"{_shown(value)}; it must be {_rule(schema) or error.message}", "value", path, remedy)


def _types(schema: Mapping[str, Any]) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else list(types)


def _rule(schema: Mapping[str, Any]) -> str:
    """What a value must be: the title of its schema, or its keywords in words."""
    if "title" in schema and "$schema" not in schema:  # the title of a whole schema names the file
        return schema["title"]
    if "const" in schema:
        return _shown(schema["const"])
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    kind = " or ".join(_KINDS[one] for one in _types(schema))
    limits = [words.format(schema[key]) for key, words in _LIMITS.items() if key in schema]
    return " ".join(filter(None, (kind, " and ".join(limits))))


def _nearest(key: str, valid: Sequence[str], listed: str = "") -> str:
    near = difflib.get_close_matches(str(key)[:80], valid, n=1)
    hint = f"did you mean '{near[0]}'?" if near else ""
    return " ".join(filter(None, (hint, f"{listed}: {', '.join(valid)}" if listed and valid else "")))


def _shown(value: object) -> str:
    """A value in a message: never longer than a line."""
    if isinstance(value, dict | list):
        return _KINDS["object" if isinstance(value, dict) else "array"]
    if value is None or isinstance(value, bool):
        return _KINDS["null"] if value is None else str(value).lower()
    text = repr(value[:80] if isinstance(value, str) else value)
    return text if len(text) <= 84 else f"{text[:80]}..."


def _shown_key(key: object) -> str:
    text = str(key)[:80]
    return text if re.fullmatch(r"[\w.:@+-]+", text) else repr(text)


#: Of the pipeline; several files and ``--config`` can make one, so the Snakefile compares their sum.
CONFIGURATION = Document("configuration", "config", "docs/reference/commands.md lists its keys")
CONFIGURATION_TEXT = replace(CONFIGURATION, schema=None)


# The library jsonschema, without the part that takes longest to import.
#
# jsonschema imports ``rfc3987_syntax`` if it is installed, and that compiles 38 grammars of URIs: about one
# second of processor time in every start of Snakemake. No schema of Tessera has URIs.

_GRAMMARS = "rfc3987_syntax"


def jsonschema() -> ModuleType:
    """The library; whoever imports it later, for example ``snakemake.utils.validate``, gets the same module.

    The formats ``iri`` and ``iri-reference`` are unknown to it, as without ``rfc3987_syntax``.
    """
    absent = "jsonschema" not in sys.modules and _GRAMMARS not in sys.modules
    if absent:
        # Its import fails, and jsonschema goes on without it.
        sys.modules[_GRAMMARS] = None  # type: ignore[assignment]
    try:
        import jsonschema as library
    finally:
        if absent:
            del sys.modules[_GRAMMARS]
    return library
