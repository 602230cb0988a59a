"""No text of a configuration becomes code: rules quote what a shell reads; hostile names are refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tessera.core.files import repo_root

from .stub_checkout import Checkout

ROOT = repo_root()
FILES = [ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk"))]
#: Params whose text is quoted words KEY=VALUE; a rule makes them by one of :data:`QUOTING`.
WORDS = {"words", "cells", "bundles", "parts"}
QUOTING = r"(?:lambda [^:]+: )?(?:catalogue\.words|catalogue\.repeated|cell_words)\("
#: Files below results/, whose names the schema and constraints of wildcards limit; and a number.
PATHS = {"input", "output", "log", "threads"}


def shells() -> list[tuple[str, str, str]]:
    """(file and rule, text of the rule, its shell command) of each rule with one."""
    found = []
    for path in FILES:
        for rule in re.split(r"^(?=rule \w+:)", path.read_text(), flags=re.M)[1:]:
            body = re.split(r"\n(?=[^\s#])", rule)[0]
            if command := re.search(r"^    shell:(.*)\Z", body, re.M | re.S):
                found.append((f"{path.name}, {body.split(':')[0]}", body, command[1]))
    return found


def test_each_value_in_a_shell_command_is_quoted_or_cannot_be_code():
    wrong, seen = [], set()
    everywhere = re.search(r"^wildcard_constraints:\n((?:    .*\n)+)", FILES[0].read_text(), re.M)[1]
    for place, rule, command in shells():
        for name, key, form in re.findall(r"\{(\w+)(?:[.\[]([\w.\]]+))?([^}]*)\}", command):
            seen.add(name)
            if name == "params" and form == ":q":
                continue
            if name == "params":
                good = key in WORDS and re.search(rf"\b{key}={QUOTING}", rule)
            elif name == "wildcards":
                own = re.search(r"wildcard_constraints:(.*)", rule)
                good = re.search(rf"\b{key}=", everywhere + (own[1] if own else ""))
            else:
                good = name in PATHS
            if not good:
                wrong.append(f"{place}: {{{name}.{key}}}")
        if command.lstrip().startswith("f"):
            wrong.append(f"{place}: Python formats the command, not Snakemake")
    assert wrong == [] and seen == {"params", "wildcards", *PATHS}
    assert len(shells()) > 40


@pytest.mark.parametrize(
    "hostile",
    [
        'sampling: "full\'; touch X #"',
        'name: "smoke\\n"',
        "explore: {workload: 'gups; touch X', platform: sandybridge-sim}",
        "host: &host {}",
    ],
)
def test_a_hostile_configuration_is_refused_by_key_before_anything_runs(checkout, hostile):
    key = hostile.partition(":")[0]
    path = checkout.folder / "config" / "smoke.yaml"
    good = path.read_text()
    path.write_text(re.sub(rf"^{key}:.*\n(?: .*\n)*", "", good, flags=re.M) + f"{hostile}\n")
    try:
        said = checkout.snakemake("smoke", status=1)
    finally:
        path.write_text(good)
    assert key in said and "what to do" in said
    assert not checkout.log.exists() and not checkout.results.exists()
    assert not list(checkout.folder.rglob("X"))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Checkout:
    return Checkout(Path(tmp_path_factory.mktemp("hostile")), "smoke")
