"""The profile fits the workflow: it repeats the default one, names existing rules; no job gets all cores."""

from __future__ import annotations

import re

import pytest
import yaml


@pytest.fixture(scope="module")
def profile(root) -> dict:
    return yaml.safe_load((root / "profiles" / "slurm" / "config.yaml").read_text())


@pytest.fixture(scope="module")
def rules(root) -> dict[str, str]:
    """Text of every rule, by its name."""
    found = {}
    for path in sorted((root / "workflow" / "rules").glob("*.smk")):
        for block in re.split(r"^(?=rule )", path.read_text(), flags=re.MULTILINE)[1:]:
            found[re.match(r"rule (\w+):", block).group(1)] = block
    return found


@pytest.fixture(scope="module")
def local(rules) -> set[str]:
    """Rules whose jobs run where Snakemake runs."""
    return {name for name, text in rules.items() if "localrule: True" in text}


def test_it_repeats_what_holds_on_every_machine(root, profile):
    """`--workflow-profile` replaces profiles/default, it does not add to it."""
    default = yaml.safe_load((root / "profiles" / "default" / "config.yaml").read_text())
    different = [key for key, value in default.items() if key != "resources" and profile.get(key) != value]
    assert different == []
    assert profile["resources"]["kernel_guests"] == default["resources"]["kernel_guests"]
    assert "mem_mb" not in profile["resources"]  # nodes have memory of their own; Slurm adds it up


def test_no_job_takes_every_core(profile, rules):
    """`threads: workflow.cores` is all that the run may use: here, the sum of all nodes."""
    greedy = {name for name, text in rules.items() if "threads: workflow.cores" in text}
    assert greedy and greedy <= profile["set-threads"].keys()
    assert max(profile["set-threads"].values()) <= 4 and profile["local-cores"] == 2


def test_it_names_only_rules_that_exist(profile, rules):
    for part in ("set-threads", "set-resources", "groups"):
        assert profile[part].keys() <= rules.keys(), part


def test_a_second_try_has_more_memory(profile, rules, local):
    """A fixed number would fail three times in the same way."""
    assert "attempt" in profile["default-resources"]["mem_mb"] and profile["retries"] >= 1
    fixed = [name for name, text in rules.items() if re.search(r"mem_mb=\d", text) and name not in local]
    unchanged = [n for n in fixed if "attempt" not in str(profile["set-resources"].get(n, {}).get("mem_mb"))]
    assert unchanged == []
    computed = [text for text in rules.values() if "mem_mb=lambda" in text]
    assert len(computed) == 2 and all("lambda w, attempt" in text for text in computed)


def test_a_recording_does_not_take_the_memory_of_what_runs_around_it(root, rules):
    """Snakemake twice and `tessera`, 250 MB each: with less, the step finds too little free, and fails."""
    text = (root / "workflow" / "rules" / "trace.smk").read_text()
    around = int(re.search(r"^AROUND_MB = (\d+)$", text, re.MULTILINE)[1])
    assert (
        around >= 3 * 250
        and f"{around} MB for Snakemake" in (root / "docs" / "howto" / "cluster.md").read_text()
    )
    assert [name for name, rule in rules.items() if "job_mb(" in rule] == ["prepare", "trace"]


def test_measurements_have_their_node_alone(profile, rules):
    """What takes every core of a machine because it reads a clock."""
    builds = {"images", "component"}
    for name in profile["set-threads"].keys() - builds:
        assert "--exclusive" in profile["set-resources"][name]["slurm_extra"], name


def test_what_runs_on_the_submitting_machine_is_small(profile, rules, local):
    """Rules with `localrule` work on tables or take seconds. The profile has no settings of them."""
    programs = {name for name in local if "component_stamps" in rules[name]}
    assert programs == {"layouts", "study_window"} and local >= {"fit", "notebook", "report"}
    assert not local & (profile["set-resources"].keys() | profile["groups"].keys())


def test_chains_of_jobs_have_their_turn_first(profile, rules):
    """What is nice is waited for by the report only."""
    nice = {name for name, own in profile["set-resources"].items() if "--nice" in own.get("slurm_extra", "")}
    waited_for = {"trace", "cells", "chase", "clock_measure", "clock", "host_run", "host_platform"}
    assert nice and nice <= rules.keys() - waited_for


def test_the_plugin_is_pinned_beside_the_lock(root):
    """Its packages are not in requirements.lock, whose content is part of the digest of computed steps."""
    text, lock = (root / "requirements-slurm.lock").read_text(), (root / "requirements.lock").read_text()
    pins = re.findall(r"^([\w-]+)==", text, flags=re.MULTILINE)
    assert "snakemake-executor-plugin-slurm" in pins
    assert not [name for name in pins if re.search(rf"^{name}==", lock, flags=re.MULTILINE)]
    blocks = re.split(r"^(?=[a-z])", text, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(pins) and all("--hash=sha256:" in block for block in blocks)
