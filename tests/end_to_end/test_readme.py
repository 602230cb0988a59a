"""Every command of the README and the docs runs; paths that they name exist."""

import os
import re
import shlex
import shutil
import subprocess

import pytest

from tests import in_process
from tests.docs import pages

from .conftest import ROOT, run_sh

pytestmark = [pytest.mark.slow, pytest.mark.toolchain]
#: pages whose commands run on files made for them, in a test_docs.py of their own
ELSEWHERE = (
    "README.md", "fit-models.md", "predict-a-design.md", "measure.md", "bundles.md", "counters.md", "numa.md",
    "remote-page-tables.md",
)  # fmt: skip
#: pages whose commands change settings of the machine, or measure it
ALONE = ("map-memory.md", "validation.md")
OTHERS = [
    pytest.param(page, marks=pytest.mark.alone if page in ALONE else ())
    for page in pages.PAGES
    if pages.typed(page) and page not in ELSEWHERE
]
#: transfer.md names workloads and the platform of the default configuration; these are those of smoke
OF_SMOKE = {
    "gups-8gb": "gups",
    "network-simplex-2000000": "gups-200000",
    "network-simplex": "gups",
    "haswell-sim": "sandybridge-sim",
}


def commands(page):
    return [shlex.split(line, comments=True) for line in pages.typed(page)]


def as_run(words):
    """The words after ./run, on the smoke configuration; None when not for a test."""
    assert words[0] == "./run", f"a documented command that no test can run: {words}"
    words = words[1:]
    if "test" in words:
        return None  # this very suite
    if "reproduce" in words:
        words += ["--configfile", "config/smoke.yaml"]
    if "package" in words and "verify" not in words:
        words += ["--allow-dirty"]  # a checkout under development has uncommitted files
    if words == ["notebooks"]:
        words += ["--version"]  # a server that runs until Ctrl-C; tests/bootstrap/test_run.py starts it
    return words


def ran(words):
    """`./run WORDS`; `tessera` in this process, where it starts five times faster."""
    if words[0] != "tessera":
        return run_sh(*words)
    done = in_process.tessera(*words[1:])
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout + done.stderr)


def test_readme_names_both_commands():
    text = pages.text("README.md")
    assert "./run test" in text and "reproduce" in text


def test_the_readme_shows_what_the_commands_print(tmp_path):
    """The demo; the others of its table have tests of their own (test_smoke, test_reproduce, test_run)."""
    ((command, shown),) = pages.sessions("README.md")
    assert command == "./run demo"
    done = run_sh("demo", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    printed = iter(done.stdout.splitlines())
    assert [line for line in shown if line != "..." and line not in printed] == []


@pytest.fixture
def reserved():
    """64 2MB pages for the README's mosalloc example, when allowed."""
    if os.environ.get("TESSERA_RESERVE") != "1":
        yield False
        return
    from tessera.machine.reserve import reserve_huge_pages

    with reserve_huge_pages(64):
        yield True


@pytest.mark.parametrize("page", OTHERS)
def test_commands_of_the_docs_run(request, page, tmp_path, monkeypatch):
    """What they say about results/default is tried on a copy of the smoke results."""
    monkeypatch.chdir(ROOT)
    results = tmp_path / "smoke"
    if "results/" in "".join(pages.typed(page)):
        smoke = request.getfixturevalue("smoke")
        shutil.copytree(smoke.results, results, ignore=shutil.ignore_patterns("trace.tst", "cache"))
    for words in commands(page):
        if (run := as_run(words)) is None:
            continue
        if page == "transfer.md":
            run = on_smoke(run, smoke.results)  # needs the traces, writes only to the cache
        run = [word.replace("results/default", str(results)) for word in run]
        done = ran(run)
        assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}"


def on_smoke(words, results):
    """Words of a command of transfer.md on the smoke results."""
    for old, new in {"results/default": str(results), **OF_SMOKE}.items():
        words = [word.replace(old, new) for word in words]
    return words


@pytest.mark.alone
def test_a_program_is_measured_as_the_page_says(reserved):
    """The one command of measure.md that needs the components."""
    if not reserved:
        pytest.skip("2MB pages must be reserved: ./run --reserve test")
    (words,) = (words for words in commands("measure.md") if "--try" in words)
    done = run_sh(*words[1:])
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}"
    assert "hot-64mb" in done.stdout


@pytest.mark.parametrize("page", pages.PAGES)
def test_links_and_paths_exist(page):
    text = re.sub(r"^```.*?^```$", "", pages.text(page), flags=re.M | re.S)  # C++ lambdas look like links
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (pages.PAGES[page].parent / target).exists(), f"{page} links to {target}"
