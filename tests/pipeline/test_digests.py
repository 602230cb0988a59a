"""Digests of code: neither too few modules (stale results) nor all of them; by content, not by time."""

from __future__ import annotations

import ast
import inspect
import os
import re
import shutil
import sys
import time
from pathlib import Path

import click
import pytest

from tessera.cli.dev.steps import STEPS
from tessera.cli.main import cli
from tessera.cli.pipeline import digests
from tessera.core.files import repo_root
from tessera.lab.catalogue import STUDIES

RULES = sorted((repo_root() / "workflow" / "rules").glob("*.smk"))
CODE = re.compile(r"\bcode\(([^)]*?)(?:, without=.*?)?\)", re.DOTALL)
#: A study or step that a rule runs, by itself or by `tessera dev attempt ... --`.
STUDY = re.compile(r'(?:"tessera|--) (lab run|dev step) ([\w{}.-]+)')


def imported(path, package):
    """Dotted names that a file imports from Tessera, by Python's own grammar."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("tessera."))
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            if name.startswith("tessera"):
                yield from (f"{name}.{alias.name}" for alias in node.names)


def test_every_import_is_seen():
    """The quick reader of imports finds all that Python's grammar finds."""
    known = digests._modules()
    assert len(known) > 300
    for name, path in known.items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        found = digests.imports(name)
        for target in imported(path, package):
            module = digests._longest(target)
            assert not module or module in found or module == name, f"{name} imports {target}"


@pytest.mark.parametrize(
    ("module", "inside", "outside"),
    [
        ("cli.pipeline.fit", "fit.models.anchors fit.evaluation.adaptive", "lab report record"),
        ("cli.pipeline.simulation", "simulate.simulator core.layouts.generation core.platforms",
         "fit lab report machine.counters machine.counter_check machine.perf"),
        ("cli.pipeline.record", "record.workloads.kinds.spec record.traces.recording",
         "fit simulate lab report"),
        ("lab.studies.sweep", "fit.models.anchors simulate.simulator lab.studies.variations",
         "report cli lab.validation lab.studies.designs"),
        ("report.site", "report.figures.mitosis_kernel report.evaluators.model_errors",
         "lab.kernel.patch_tests cli"),
        ("report.notebooks", "report.explore report.templates", "report.figures.registry report.site cli"),
    ],
)  # fmt: skip
def test_a_step_depends_on_what_decides_its_result(module, inside, outside):
    found = digests.closure([f"tessera.{module}"])
    assert {f"tessera.{name}" for name in inside.split()} <= found
    for name in outside.split():
        assert not any(f"{one}.".startswith(f"tessera.{name}.") for one in found), name
    assert not any(f"{one}.".startswith(digests.PLUMBING) for one in found)
    steps_and_commands = {one for one in found if one.startswith("tessera.cli.")}
    assert steps_and_commands <= {"tessera.cli.pipeline", "tessera.cli.pipeline.needs", f"tessera.{module}"}


@pytest.mark.parametrize(
    ("file", "module"),
    [("trace", "tessera.cli.pipeline.record"), ("studies_os", "tessera.lab.studies.scenario_recording")],
)
def test_a_recording_knows_no_platform_and_no_layout(file, module):
    text = (repo_root() / "workflow" / "rules" / f"{file}.smk").read_text()
    without = ast.literal_eval(re.search(r"without=(\(.*?\))\)", text).group(1))
    found = digests.closure([module], without)
    outside = ("tessera.core.layouts", "tessera.core.platforms", "tessera.simulate")
    assert not any(name.startswith(outside) for name in found)


def blocks():
    """(rule, its text) of all rules."""
    for path in RULES:
        for block in re.split(r"^rule ", path.read_text(), flags=re.MULTILINE)[1:]:
            yield block.split(":")[0], block


def rules():
    """(rule, words of its command, the modules of its `code`) of all rules that call tessera."""
    found = []
    for name, block in blocks():
        command, given = re.search(r'"tessera ([a-z-]+(?: [a-z][a-z-]*)*)', block), CODE.search(block)
        if command and not STUDY.search(block) and "image" not in name:
            modules = re.findall(r'"(tessera[\w.]+)"', given.group(1)) if given else []
            found.append((name, command.group(1).split(), modules))
    return found


def test_every_rule_names_the_code_of_its_study():
    """What a study computes is what its module imports; a step's module is named as such."""
    compared = 0
    for name, block in blocks():
        for kind, asked in STUDY.findall(block):
            if kind == "lab run":
                assert asked in STUDIES or "{" in asked, f"rule {name}: {asked}"
                coded = re.search(r'study_code\(f?"([^"]+)"', block)
                assert coded and coded.group(1).replace("{w.", "{wildcards.") == asked, f"rule {name}"
            else:
                assert f'code("{STEPS[asked].module}"' in block, f"rule {name}"
            compared += 1
    assert compared >= 35


def function_of(words):
    """The function of a command, without its decorators."""
    command = cli
    for word in words:
        command = command.get_command(click.Context(command), word)
    return inspect.unwrap(command.callback)


def command_imports(words):
    """What the function of a command imports inside it, and what its file's helpers do."""
    function = function_of(words)
    mine = {function.__name__}
    tree = ast.parse(Path(inspect.getsourcefile(function)).read_text())
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    called = {n.id for name in mine for n in ast.walk(functions[name]) if isinstance(n, ast.Name)}
    helpers = {name for name in called & set(functions) if name.startswith("_")}
    for name in mine | helpers:
        for node in ast.walk(functions[name]):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("tessera."):
                yield from (digests._longest(f"{node.module}.{alias.name}") for alias in node.names)


def test_every_rule_names_the_code_of_its_command():
    """What the command imports for its work is in the closure of what the rule names."""
    found = rules()
    assert len(found) >= 6
    compared = 0
    for name, words, modules in found:
        if words in (["report", "check"], ["lab", "kernel", "outcomes"]):
            continue  # they show, and make no file
        assert modules, f"rule {name} names no code"
        if is_command(modules[0]):
            continue  # the whole command
        inside = digests.closure(modules)
        for needed in command_imports(words):
            left_out = f"{needed}.".startswith((*digests.PLUMBING, "tessera.simulate.progress."))
            assert needed in inside or left_out, f"rule {name}: {needed}"
            compared += 1
    assert compared >= 8


def is_command(module):
    """Whether a module of ``tessera.cli`` is a command, and not a step of the pipeline."""
    return module.startswith("tessera.cli.") and not module.startswith("tessera.cli.pipeline.")


def test_files_that_rules_name_in_the_package_exist():
    """The digest of a path that is gone stays the same, whatever the file that took its place says."""
    text = "".join(path.read_text() for path in RULES)
    named = re.findall(r'"(src/tessera/[^"]+)"', text)
    assert named
    for name in [*named, digests.BUILDER, *(file for files in digests.READ.values() for file in files)]:
        assert (repo_root() / name).is_file(), name


def copied_to(folder):
    """A copy of what digests are made of."""
    for name in (
        "src/tessera",
        "artifacts/simulator",
        "artifacts/tracer",
        "artifacts/layout-format",
        "artifacts/imitation/driver",
        "docker",
    ):
        shutil.copytree(repo_root() / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(repo_root() / "requirements.lock", folder)
    return folder


def fresh(function, *arguments):
    """A digest that is not remembered."""
    for remembered in vars(digests).values():
        if hasattr(remembered, "cache_clear"):
            remembered.cache_clear()
    return function(*arguments)


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy, and a digest of it that is not remembered."""
    monkeypatch.setenv("TESSERA_ROOT", str(copied_to(tmp_path)))
    yield tmp_path, fresh
    monkeypatch.undo()
    fresh(digests._modules)


def changed(path):
    path.write_text(path.read_text() + "\n")


def test_content_counts_and_time_does_not(copy):
    root, fresh = copy
    before = fresh(digests.code, "tessera.cli.pipeline.fit")
    path = root / "src/tessera/fit/models/anchors.py"
    os.utime(path, (1, 1))
    assert fresh(digests.code, "tessera.cli.pipeline.fit") == before
    changed(root / "src/tessera/report/site.py")
    changed(root / "src/tessera/core/errors.py")
    for words in ("src/tessera/fit/__init__.py", "src/tessera/core/__init__.py"):  # docstrings decide nothing
        (root / words).write_text('"""Other words."""\n')
    assert fresh(digests.code, "tessera.cli.pipeline.fit") == before
    changed(path)
    after = fresh(digests.code, "tessera.cli.pipeline.fit")
    assert after != before
    changed(root / "requirements.lock")  # a fit's digits are its libraries' too
    assert fresh(digests.code, "tessera.cli.pipeline.fit") != after


def test_a_new_module_of_a_package_that_is_imported_by_name_counts(copy):
    root, fresh = copy
    before = fresh(digests.code, "tessera.cli.pipeline.fit")
    (root / "src/tessera/fit/models/new.py").write_text("x = 1\n")
    assert fresh(digests.code, "tessera.cli.pipeline.fit") != before


def test_a_component_is_what_it_is_built_from(copy):
    root, fresh = copy
    before = fresh(digests.programs_digest, "docker", "simulator")
    for name in (
        "simulator/README.md", "simulator/tests/platform_test.cpp", "tracer/plugin/CMakeLists.txt",
        "layout-format/refused.csv", "layout-format/accepted/crlf.expected",
    ):  # fmt: skip
        changed(root / "artifacts" / name)
    assert fresh(digests.programs_digest, "docker", "simulator") == before
    assert fresh(digests.programs_digest, "none", "simulator") != before
    for name in (
        "artifacts/simulator/src/tlb/array.h",
        "artifacts/tracer/lib/CMakeLists.txt",
        "artifacts/layout-format/CMakeLists.txt",
        "docker/toolchain/Dockerfile",
    ):
        now = fresh(digests.programs_digest, "docker", "simulator")
        changed(root / name)
        assert fresh(digests.programs_digest, "docker", "simulator") != now, name


@pytest.mark.parametrize("engine", ["docker", "none"])
def test_a_copy_in_another_folder_has_the_same_digests(tmp_path, monkeypatch, engine):
    """Of programs, of code, and of files that are named by absolute or relative paths."""
    bundle = tmp_path / "bundles" / "mine"
    bundle.mkdir(parents=True)
    (bundle / "counts.csv").write_text("cycles\n1\n")
    found = []
    for name in ("a", "a folder with spaces"):
        root = copied_to(tmp_path / name)
        elsewhere = shutil.copytree(bundle, tmp_path / f"of {name}" / "mine")
        monkeypatch.setenv("TESSERA_ROOT", str(root))
        monkeypatch.chdir(root)
        found.append(
            {
                "simulator": fresh(digests.programs_digest, engine, "simulator"),
                "both": digests.programs_digest(engine, "simulator", "tracer"),
                "code": digests.code("tessera.cli.pipeline.fit"),
                "relative": digests.content_digest("docker/base", "requirements.lock"),
                "absolute": digests.content_digest(root / "docker" / "base", root / "requirements.lock"),
                "elsewhere": digests.content_digest(elsewhere),
            }
        )
        with_another_name = digests.content_digest(elsewhere.rename(elsewhere.with_name("yours")))
        assert with_another_name != found[-1]["elsewhere"]
    monkeypatch.undo()
    fresh(digests._modules)
    assert found[0] == found[1]
    assert found[0]["relative"] == found[0]["absolute"]


def test_folders_that_a_component_includes_are_known():
    """`../x` in its CMake files, outside of tests, is in the table of what else it is built from."""
    artifacts = repo_root() / "artifacts"
    for component in ("mosalloc", "simulator", "tracer", "workloads"):
        for path in (artifacts / component).rglob("CMakeLists.txt"):
            if set(digests.FOR_TESTS).intersection(path.parts) or "benchmark" in path.parts:
                continue
            for other in re.findall(
                r"(?<![\w/])(?:\$\{CMAKE_CURRENT_SOURCE_DIR\}/)?((?:\.\./)+[\w./-]+)", path.read_text()
            ):
                named = os.path.relpath((path.parent / other).resolve(), artifacts)
                known = (component, *digests.ALSO.get(component, ()))
                assert any(f"{named}/".startswith(f"{one}/") for one in known), f"{path}: {named}"


def test_an_unknown_module_is_refused():
    with pytest.raises(KeyError, match="tessera.no.such"):
        digests.code("tessera.no.such")


def test_digests_cost_little(copy):
    """All that a start of Snakemake computes, three times at most; seconds of this process."""
    _, fresh = copy
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        fresh(digests.code, "tessera.report.site")
        digests.code("tessera.cli.pipeline.record")
        digests.programs_digest("docker", "simulator", "tracer")
        seconds.append(time.process_time() - begin)
    assert min(seconds) < 0.3, sys.version
