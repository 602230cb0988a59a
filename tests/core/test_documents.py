"""Files that people write or strangers send: what is wrong is refused with its place, in every kind."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from tessera.cli.plan.estimate import read_configuration
from tessera.core import configuration_files, platforms, scenarios
from tessera.core.configuration_files import CONFIGURATION, SCHEMAS, Document, jsonschema, named_schema
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.reference import records
from tessera.lab.energy import guz_model, power
from tessera.lab.transfer.own_design import read_own
from tessera.machine.counters.passes import MODES
from tessera.measure.bundles import json_files
from tessera.record.workloads.definition import read_workload
from tessera.report import coverage
from tessera.report.claims.load import load_claims
from tessera.simulate.platform_files import GENERATION_FILE

ABOUT = {
    "schema": 1, "protocol": "p", "protocol_sha256": "0" * 64, "region": "roi", "mode": "u",
    "counter": "perf", "rehearsal": False, "class": "c", "platform": "p", "created": "2026-01-01",
}  # fmt: skip
MACHINE = {
    "vendor": "v", "family": 1, "model": 1, "stepping": 1, "microcode": "0x1", "cpuid": [["0x1"] * 6],
    "sockets": 1, "cores": 1, "threads": 1, "memory_bytes": 1, "kernel": "6.1", "mitigations": {},
    "machine_id": "0" * 32,
}  # fmt: skip
WORKLOADS = {"w": {"size": "s", "arguments": ["-n"], "program_sha256": "0" * 64, "verified": True}}


def bytes_of(read):
    return lambda path: read(path.read_bytes())


#: kind -> (reader of a path, file that it reads: of the checkout, or JSON; key of its top)
KINDS = {
    "workload": (read_workload, "config/workloads/gups.yaml", "name"),
    "scenario": (scenarios.load_scenario, "config/scenarios/pressure-zram.yaml", "memory_bytes"),
    "platform": (platforms.load_platform, "config/platforms/haswell-sim.yaml", "name"),
    "core generation": (GENERATION_FILE.read, "config/platforms/hosts/zen5.yaml", "vendor"),
    "machine": (lambda path: guz_model.load_machine(str(path)), "config/machines/guz-4mb.yaml", "name"),
    "power": (power.read_power, "config/machines/power/one-core.yaml", "name"),
    "design": (read_own, "examples/designs/stlb-x4.yaml", "changes"),
    "configuration": (lambda path: read_configuration(str(path)), "config/smoke.yaml", "seed"),
    "claims": (load_claims, "config/claims.yaml", "claims"),
    "coverage": (coverage.load_coverage, "config/coverage.yaml", "papers"),
    "records": (lambda path: records.record_names(path), "reference-results/records.yaml", "records"),
    "bundle.json": (bytes_of(json_files.read_about), ABOUT, "mode"),
    "machine.json": (bytes_of(json_files.read_machine), MACHINE, "vendor"),
    "workloads.json": (bytes_of(json_files.read_workloads), WORKLOADS, "w"),
}
#: what is done to the text -> words of the message; TOP is the key of KINDS
FAULTS = {
    "a key twice": "key 'TOP' is given twice",
    "NaN": "nan' is not a number|'NaN' is not a number",
    "infinity": "inf' is not a number|'-Infinity' is not a number",
    "an alias": "anchor or alias",
    "a merge": "'<<' is not a word",
    "deep": "nested deeper than 32 levels",
    "wrong type": "TOP: true; it must be |these keys need a text: TOP",
    "unknown key": "zzz: unknown key|key zzz|zzz: keys missing",
    "a list": ": a list; it must be a table of keys|not a mapping",
    "long": "more than 1048576 bytes",
    "many": "more than 20000 keys and entries",
    "no text": "UTF-8",
    "unclosed": "not YAML|not JSON",
}
#: JSON has no aliases; claims share tolerances by anchors
CASES = [
    (kind, fault)
    for kind in KINDS
    for fault in FAULTS
    if not (fault in ("an alias", "a merge") and kind.endswith(".json"))
    and (kind, fault) != ("claims", "an alias")
]


def damaged(good: object, fault: str, top: str) -> bytes:
    """The file with the fault at its end, or in place of it."""
    many = "[" + "0," * 20_000 + "0]"
    added = {
        "NaN": ("zzz", ".nan", "NaN"), "infinity": ("zzz", "-.inf", "-Infinity"),
        "a key twice": (top, "0", "0"), "an alias": ("zzz", "&zzz 1", ""), "a merge": ("<<", "{zzz: 1}", ""),
        "deep": ("zzz", "[" * 40 + "]" * 40, "[" * 40 + "]" * 40), "unknown key": ("zzz", "{}", "{}"),
        "many": ("zzz", many, many), "unclosed": ("zzz", "[", "["),
    }  # fmt: skip
    if fault in ("a list", "long", "no text"):
        return {"a list": b"[1]", "long": b" " * (1 << 20) + b"{}", "no text": b"\xff{}"}[fault]
    if fault == "wrong type":
        tree = yaml.safe_load(good) if isinstance(good, str) else good
        return json.dumps(tree | {top: True}, default=str).encode()
    key, of_yaml, of_json = added[fault]
    if isinstance(good, str):
        return f"{good}\n{key}: {of_yaml}\n".encode()
    return f'{json.dumps(good)[:-1]}, "{key}": {of_json}}}'.encode()


@pytest.mark.parametrize(("kind", "fault"), CASES)
def test_what_is_wrong_is_refused(kind, fault, tmp_path):
    read, good, top = KINDS[kind]
    path = tmp_path / (good.rpartition("/")[2] if isinstance(good, str) else kind)
    text = (repo_root() / good).read_text() if isinstance(good, str) else good
    path.write_bytes(damaged(text, fault, top))
    with pytest.raises(TesseraError) as refused:
        read(path)
    error = refused.value
    assert path.name in error.asked and error.remedy
    assert re.search(FAULTS[fault].replace("TOP", top), error.problem), error.problem
    if isinstance(good, str) and fault in ("a key twice", "NaN", "unclosed"):
        assert "line " in error.asked


@pytest.mark.parametrize("kind", KINDS)
def test_the_file_itself_is_read(kind, tmp_path):
    read, good, _ = KINDS[kind]
    path = repo_root() / good if isinstance(good, str) else tmp_path / kind
    if not isinstance(good, str):
        path.write_text(json.dumps(good))
    assert read(path)


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.name)
def test_a_schema_is_one(path):
    jsonschema().Draft202012Validator.check_schema(json.loads(path.read_text()))


def test_the_first_fault_of_the_file_is_named_with_line_and_remedy():
    keys = {"a": {"type": "string"}, "b": {"type": "array", "items": {"enum": ["left", "right"]}}}
    schema = {"type": "object", "additionalProperties": False, "required": ["a"], "properties": keys}
    kind = Document("file", schema, "see the page", code="x")
    cases = {
        "b: [left, rigt]\na: 1\n": ("file f.yaml, line 1, b/1", "mean 'right'?", "x-value"),
        "a: 1\nb: [up]\n": ("file f.yaml, line 1, a", 'in quotes: "1"', "x-value"),
        "c: 1\n": ("file f.yaml, line 1, c", "keys here are: a, b; see the page", "x-key"),
        "b: []\n": ("file f.yaml, line 1", "see the page", "x-key"),
        "a: x\nb:\n  - left\n  - no\n": ("file f.yaml, line 4, b/1", "see the page", "x-value"),
    }
    for text, (asked, remedy, code) in cases.items():
        with pytest.raises(TesseraError) as refused:
            kind.parse(text.encode(), "f.yaml")
        error = refused.value
        assert (error.asked, error.code) == (asked, code) and remedy in error.remedy


@pytest.mark.parametrize("value", ["1.0", "true", "1e2"])
def test_a_number_with_a_fraction_is_no_whole_number(value):
    with pytest.raises(TesseraError, match="must be a whole number"):
        Document("file", {"properties": {"a": {"type": "integer"}}}, "").parse(
            b'{"a": %s}' % value.encode(), "f.json"
        )


def test_the_end_of_a_pattern_is_the_end_of_the_text():
    form = {"type": "string", "pattern": "^[a-z]+$"}
    assert configuration_files.fault_of("a\n", form) and not configuration_files.fault_of("a", form)


def test_words_of_schemas_are_those_of_the_code():
    about = named_schema("bundle-about")["properties"]
    assert about["region"]["enum"] == list(json_files.REGIONS)
    assert about["counter"]["enum"] == list(json_files.COUNTERS)
    assert about["mode"]["enum"] == list(MODES)
    assert about["schema"]["const"] == json_files.SCHEMA


@pytest.mark.parametrize("path", sorted((repo_root() / "config").glob("*.yaml")), ids=lambda path: path.stem)
def test_committed_configurations(path):
    if path.stem not in ("claims", "coverage", "proof-reading"):
        CONFIGURATION.read(path)
