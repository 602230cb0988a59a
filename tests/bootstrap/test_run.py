"""``./run``: what each verb starts, options on either side, and errors that say what to do."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tessera.machine.limits import allowed_processors

#: Jupyter refuses root unless it is told.
_AS_ROOT = "" if os.geteuid() else " --allow-root"
VERBS = {
    "notebooks --port=9999": (
        "jupyter lab --no-browser --ip=127.0.0.1 --LabApp.news_url=None"
        f" --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate{_AS_ROOT} --port=9999 notebooks"
    ),
    "smoke": "snakemake --cores all --configfile config/smoke.yaml -- smoke",
    "reproduce": "snakemake --cores all -- reproduce",
    "demo --pair W/P": "tessera demo --pair W/P",
    "measure --fix --out B": "tessera measure run --fix --out B",
    "tessera trace info T": "tessera trace info T",
    "tessera --reserve": "tessera --reserve",
}


def run(folder, *arguments: str, cwd=None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``./run`` with a clean Tessera environment, no records of the machine, and no terminal."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("TESSERA_")}
    env |= {"TESSERA_MACHINE_STATE": str(folder / "state")} | environment
    return subprocess.run(
        [str(folder / "run"), *arguments],
        capture_output=True,
        text=True,
        env=env,
        stdin=subprocess.DEVNULL,
        cwd=cwd,
    )


@pytest.mark.parametrize("line", VERBS)
def test_verbs(dry_checkout, line):
    done = run(dry_checkout, *line.split())
    assert done.stdout == f"{VERBS[line]} | engine=docker reserve=0\n", done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "--reserve --engine none --yes reproduce -n",
        "reproduce --reserve --engine=none -n --yes",
        "--yes reproduce -n --engine none --reserve",
    ],
)
def test_options_stand_before_or_after_the_verb(dry_checkout, line):
    done = run(dry_checkout, *line.split())
    assert done.stdout == "snakemake --cores all -n -- reproduce | engine=none reserve=1\n", done.stderr


def test_bundles_are_checked_first_and_reach_the_workflow_as_paths_of_the_caller(
    dry_checkout, tmp_path_factory
):
    caller = tmp_path_factory.mktemp("caller")
    checks = 'echo checked "$4" "$5" >&2; printf "%s\\n" "${4#bundle=}" "${5#bundle=}" > "$7"'
    for name, body in (("tessera", f'[ "$3" = accept ] || exit 0; {checks}'),
                       ("snakemake", 'echo "$TESSERA_BUNDLES" "$@"')):  # fmt: skip
        (dry_checkout / ".venv" / "bin" / name).write_text(f"#!/bin/sh\n{body}\n")
    for line in ("reproduce --bundle a b/c.zip -n", "--bundle a b/c.zip reproduce -n",
                 "reproduce -n --bundle a --bundle b/c.zip"):  # fmt: skip
        done = run(dry_checkout, *line.split(), cwd=caller)
        a, b = caller / "a", caller / "b" / "c.zip"
        assert f"checked bundle={a} bundle={b}" in done.stderr
        assert done.stdout.splitlines()[-2:] == [str(a), f"{b} --cores all -n -- reproduce"], done.stderr


@pytest.mark.parametrize(
    "doi", ["10.5281/zenodo.1", "doi:10.5281/zenodo.1", "https://doi.org/10.5281/zenodo.1"]
)
def test_a_doi_of_a_bundle_is_no_path(dry_checkout, doi):
    for name, body in (
        ("tessera", '[ "$3" = accept ] && echo "found/${4#bundle=}" > "$6"'),
        ("snakemake", 'echo "$TESSERA_BUNDLES"'),
    ):
        (dry_checkout / ".venv" / "bin" / name).write_text(f"#!/bin/sh\n{body}\nexit 0\n")
    done = run(dry_checkout, "reproduce", "--bundle", doi)
    assert done.stdout.splitlines()[-1] == f"found/{doi}", done.stderr


@pytest.mark.parametrize("line", ["test --bundle b", "reproduce --bundle", "reproduce --bundle -n"])
def test_a_bundle_that_no_verb_takes_or_none_is_an_error(dry_checkout, line):
    done = run(dry_checkout, *line.split())
    assert done.returncode == 2 and "--bundle" in done.stderr


def test_a_refused_bundle_starts_no_workflow(dry_checkout):
    tessera = dry_checkout / ".venv" / "bin" / "tessera"
    tessera.write_text('#!/bin/sh\n[ "$3" != accept ]\n')
    done = run(dry_checkout, "reproduce", "--bundle", "b")
    assert done.returncode == 1 and "snakemake" not in done.stdout


def test_a_configuration_is_checked_before_snakemake_expands_its_aliases(root, dry_checkout):
    words = ["--configfile", "a.yaml", "b c.yaml", "-n", "--configfiles=d.yaml", "--cores", "target"]
    checks, starts = started(run(dry_checkout, "reproduce", *words))
    assert checks == "python -P -m tessera.cli.pipeline.configurations a.yaml b c.yaml d.yaml"
    assert starts == f"snakemake --cores all {' '.join(words)} -- reproduce"
    python = dry_checkout / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{root}/src" exec "{sys.executable}" "$@"\n')
    (dry_checkout / "a.yaml").write_text("a: &a [1]\nb: *a\n")
    done = run(dry_checkout, "smoke", "--configfile", "a.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "a.yaml, line 1: an anchor or alias" in done.stderr and "what to do" in done.stderr


@pytest.mark.parametrize(
    ("verb", "where"),
    [
        ("tessera", "caller"),
        ("demo", "caller"),
        ("measure", "caller"),
        ("smoke", "checkout"),
        ("reproduce", "checkout"),
    ],
)
def test_relative_paths_are_the_callers_except_in_the_workflow(dry_checkout, tmp_path_factory, verb, where):
    folder = {"checkout": dry_checkout, "caller": tmp_path_factory.mktemp("caller with a space")}
    for name in ("tessera", "snakemake"):
        (dry_checkout / ".venv" / "bin" / name).write_text("#!/bin/sh\npwd\n")
    done = run(dry_checkout, verb, "x.csv", cwd=folder["caller"])
    assert done.stdout.splitlines()[-1] == str(folder[where]), done.stderr


STYLE = [
    "ruff check src tests notebooks",
    "ruff format --check src tests notebooks",
    "mypy ",
    "clang-format --dry-run --Werror artifacts/one.cpp",
]
PYTEST = "python -P -m pytest --durations=50 --durations-min=1"
ON_ALL_CORES = f"--numprocesses {allowed_processors()} --dist loadfile"


def started(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.split(" |")[0] for line in done.stdout.splitlines()]


#: Which word of a command fails -> how the end calls the part.
PARTS = {
    "check": "ruff check",
    "format": "ruff format",
    "mypy": "mypy",
    "--dry-run": "clang-format",
    "--test": "build and ctest",
    "pytest": "pytest",
}


@pytest.mark.parametrize("word", PARTS)
def test_a_part_of_test_that_fails_hides_no_other_and_is_named(dry_checkout, word):
    for program in (dry_checkout / ".venv" / "bin").iterdir():
        program.write_text(program.read_text() + f'case " ${{0##*/}} $* " in *" {word} "*) exit 1;; esac\n')
    done = run(dry_checkout, "test", "-x", "-k", "name")
    assert started(done) == [*STYLE, "tessera dev build --test", f"{PYTEST} -x -k name"]
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"run: failed: {PARTS[word]}"


def test_quick_builds_nothing_and_says_what_it_leaves_out(dry_checkout):
    for words in (["test", "--quick", "tests/fit"], ["--quick", "test", "tests/fit"]):
        done = run(dry_checkout, *words)
        kept = "-m not (alone or slow or toolchain)"
        assert started(done) == [*STYLE, f"{PYTEST} {kept} {ON_ALL_CORES} tests/fit"]
        assert done.returncode == 0
        left_out, remedy, seconds = done.stderr.splitlines()
        assert "slow, toolchain or alone" in left_out and "./run test" in remedy
        assert seconds.startswith("run: seconds: ruff check ") and ", pytest " in seconds


def test_quick_belongs_to_test(dry_checkout):
    done = run(dry_checkout, "smoke", "--quick")
    assert done.returncode == 2 and "./run test --quick" in done.stderr


def test_a_test_run_waits_for_its_kernel_and_not_for_the_engine(dry_checkout):
    """An engine that ``./run`` started lives on; the run ends, and fails only if a suite failed."""
    with (dry_checkout / "bootstrap" / "environment.sh").open("a") as steps:  # sourced last
        steps.write("ensure_engine() { sleep 20 > /dev/null 2>&1 & echo $! > engine; }\n")
    tessera = dry_checkout / ".venv" / "bin" / "tessera"
    tessera.write_text('#!/bin/sh\n[ "$1 $2" != "lab kernel" ] || { sleep 1; touch built; exit 1; }\n')
    start = time.monotonic()
    done = run(dry_checkout, "test")
    engine = int((dry_checkout / "engine").read_text())
    os.kill(engine, signal.SIGTERM)  # no such process: the run took the engine with it
    assert time.monotonic() - start < 15
    assert done.returncode == 0, done.stderr
    assert (dry_checkout / "built").exists()
    assert started(done)[len(STYLE) :] == [
        f"{PYTEST} --cache-clear -m not alone {ON_ALL_CORES}",
        f"{PYTEST} -m alone",
    ]


#: Exit status of the part for all cores, of the part for the whole machine, of the second try; of the run.
ENDS = [
    ("0", "0", "-", 0),
    ("1", "0", "0", 0),
    ("0", "1", "0", 0),
    ("1", "1", "1", 1),
    ("2", "1", "-", 2),
    ("0", "1", "5", 5),
]


@pytest.mark.parametrize(("cores", "alone", "again", "status"), ENDS)
def test_failed_tests_run_once_more_and_a_second_failure_fails_the_run(
    dry_checkout, cores, alone, again, status
):
    python = dry_checkout / ".venv" / "bin" / "python"
    python.write_text(
        '#!/bin/sh\necho "$@"\n'
        f'case "$*" in *"not alone"*) exit {cores};; *"-m alone"*) exit {alone};; esac\n'
        f"exit {again}\n"
    )
    done = run(dry_checkout, "--engine", "none", "test")
    assert done.returncode == status, done.stderr
    tries = [line for line in done.stdout.splitlines() if "--last-failed " in line]
    assert len(tries) == (again != "-")
    assert ("unstable" in done.stderr) == (again == "0")


@pytest.mark.parametrize("source", ["commit", "package", "nothing"])
def test_only_notebooks_as_they_were_published_are_trusted(dry_checkout, source):
    """JupyterLab runs the scripts in a notebook that is trusted: a stranger's file must not be."""
    folder = dry_checkout / "notebooks"
    folder.mkdir()
    for name in ("00 first", "01", "02"):
        (folder / f"{name}.ipynb").write_text(f"{name} as published\n")
    publish = {
        "commit": "git init -q && git add notebooks && git -c user.name=a -c user.email=a@b commit -q -m one"
        " && git update-index --assume-unchanged notebooks/01.ipynb",
        "package": "sha256sum notebooks/*.ipynb > SHA256SUMS",
        "nothing": "true",
    }
    subprocess.run(["bash", "-c", publish[source]], cwd=dry_checkout, check=True)
    (folder / "01.ipynb").write_text("changed\n")
    (folder / "02.ipynb").unlink()
    (folder / "02.ipynb").symlink_to("00 first.ipynb")
    (folder / "a stranger's.ipynb").write_text("00 first as published\n")
    (dry_checkout / ".venv" / "bin" / "jupyter").write_text('#!/bin/sh\necho "$*" >> called\n')
    done = run(dry_checkout, "notebooks")
    *trusted, lab = (dry_checkout / "called").read_text().splitlines()
    assert trusted == ([] if source == "nothing" else ["trust notebooks/00 first.ipynb"]), done.stderr
    assert done.returncode == 0 and lab.startswith("lab ")
    for name in ("01", "02", "a stranger's"):
        assert f"notebooks/{name}.ipynb" in done.stderr


def test_images_are_built_only_for_docker(dry_checkout):
    tessera = dry_checkout / ".venv" / "bin" / "tessera"
    tessera.write_text(tessera.read_text() + 'echo "$@" >> calls\n')
    run(dry_checkout, "--engine", "none", "setup")
    assert not (dry_checkout / "calls").exists()
    run(dry_checkout, "setup")
    assert (dry_checkout / "calls").read_text() == "dev build --image\n"


def test_apptainer_asks_for_its_image_but_not_before_a_command_that_may_make_it(dry_checkout):
    tessera = dry_checkout / ".venv" / "bin" / "tessera"
    tessera.write_text(f'#!/bin/sh\necho "$*" >> {dry_checkout}/calls\n')
    run(dry_checkout, "--engine", "apptainer", "tessera", "dev", "build", "--sif")
    assert (dry_checkout / "calls").read_text() == "dev build --sif\n"
    done = run(dry_checkout, "--engine", "apptainer", "smoke")
    assert (dry_checkout / "calls").read_text() == "dev build --sif\ndev build --image\n"
    assert "engine=apptainer" in done.stdout


def test_demo_needs_neither_engine_nor_images(dry_checkout):
    steps = "ensure_engine() { echo engine >&2; }\nensure_packages() { echo packages of $engine >&2; }\n"
    with (dry_checkout / "bootstrap" / "environment.sh").open("a") as last:
        last.write(steps)
    for words in (["demo"], ["--engine", "apptainer", "demo"]):
        done = run(dry_checkout, *words)
        assert started(done) == ["tessera demo"] and done.stderr == "packages of python\n"
    assert "engine" in run(dry_checkout, "setup").stderr


def test_a_checkout_that_cannot_be_written_still_has_its_demo(dry_checkout):
    """Root may write anywhere, so a file stands in the place of the folder of states."""
    (dry_checkout / ".tessera").touch()
    done = run(dry_checkout, "smoke")
    assert done.returncode == 2 and done.stdout == ""
    assert "./run smoke" in done.stderr and str(dry_checkout) in done.stderr and "what to do" in done.stderr
    done = run(dry_checkout, "demo", "--out", "D")
    assert started(done) == ["tessera demo --out D"], done.stderr
    (dry_checkout / ".venv" / "bin" / "tessera").unlink()
    assert run(dry_checkout, "demo").returncode == 2


#: What a demo reads of a checkout.
DEMO = (
    "run", "bootstrap", "src", "config", "report", "notebooks/data", "requirements.lock",
    "artifacts/simulator/src/base/platform_keys.def",
)  # fmt: skip


def test_demo_runs_in_a_copy_with_an_environment(root, tmp_path):
    """Without a terminal: nothing is set up, the page is made, and it takes at most 20 s of a processor."""
    copy = tmp_path / "a copy"
    for name in DEMO:
        made = copy / name
        made.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(root / name, made) if (root / name).is_dir() else shutil.copy(root / name, made)
    command = copy / ".venv" / "bin" / "tessera"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nPYTHONPATH="{copy}/src" exec "{sys.executable}" -P -m tessera "$@"\n')
    command.chmod(0o755)
    (copy / ".tessera").mkdir()
    stamp = "root=$PWD python=/usr/bin/python3; . bootstrap/environment.sh; environment_stamp"
    subprocess.run(["bash", "-c", f"{stamp} > .tessera/environment"], cwd=copy, check=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(copy, "demo", cwd=tmp_path)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (done.returncode, done.stderr) == (0, "")
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 20
    page = copy / "results" / "demo" / "index.html"
    assert page.is_file() and str(page.relative_to(tmp_path)) in done.stdout
    text = done.stdout.splitlines()
    assert max(map(len, text)) <= 80 and "simulated" in done.stdout and "./run smoke" in text[-1]


WRONG = {
    "": ["usage: ./run"],
    "reproduec": ["'reproduec'", "./run --help"],
    "--engine podman smoke": ["--engine 'podman'", "docker, apptainer, none"],
    "smoke --engine": ["--engine ''", "docker, apptainer, none"],
}


@pytest.mark.parametrize("line", WRONG)
def test_wrong_requests(dry_checkout, line):
    done = run(dry_checkout, *line.split())
    assert done.returncode == 2
    assert [value for value in WRONG[line] if value not in done.stderr] == []


@pytest.mark.parametrize("verb", ["smoke", "reproduce", "test", "setup", "lock"])
def test_help_of_a_verb_of_the_launcher_starts_nothing(dry_checkout, verb):
    done = run(dry_checkout, verb, "--help")
    assert (done.returncode, done.stdout) == (0, run(dry_checkout, "--help").stdout)


def test_help_names_every_verb_and_option(root):
    text = run(root, "--help").stdout
    script = (root / "run").read_text()
    verbs = re.search(r"^ +(doctor \|.*)\)$", script, re.MULTILINE).group(1).split(" | ")
    for word in [*verbs, "--yes", "--reserve", "--engine", "--quick"]:
        assert re.search(rf"^  {word}\b", text, re.MULTILINE), word


def test_it_works_from_any_folder(dry_checkout, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert run(dry_checkout, "smoke").returncode == 0


def test_second_start_is_quick(root):
    """Nothing to do takes 0.2 s on an idle machine; 2 s are promised, once in three tries on a busy one."""
    run(root, "setup", **_engine())
    seconds = []
    for _ in range(3):
        start = time.monotonic()
        done = run(root, "setup", **_engine())
        seconds.append(time.monotonic() - start)
        assert done.returncode == 0, done.stderr
    assert min(seconds) < 2


def _engine() -> dict[str, str]:
    return {"TESSERA_ENGINE": os.environ.get("TESSERA_ENGINE", "docker")}


@pytest.mark.parametrize("verb", ["doctor", "demo"])
def test_an_old_python_is_named_by_every_verb(root, dry_checkout, verb):
    """Python 3.9 cannot read the code of the doctor."""
    for name in ("environment.sh", "packages.sh"):
        shutil.copy(root / "bootstrap" / name, dry_checkout / "bootstrap")
    old = dry_checkout / "old-python3"
    old.write_text('#!/bin/sh\n[ "$1" != -c ] || exit 1\necho Python 3.9.18\n')
    old.chmod(0o755)
    script = dry_checkout / "run"
    script.write_text(script.read_text().replace("python=/usr/bin/python3", f"python={old}"))
    done = run(dry_checkout, verb)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Python >= 3.11: {old} is Python 3.9.18" in done.stderr and "use Debian 12" in done.stderr


@pytest.mark.parametrize("place", ["state", ".tessera/reserve", ".tessera/settings"])
def test_what_killed_runs_left_is_restored_first_and_the_verb_goes_on_whatever_happens(dry_checkout, place):
    python = dry_checkout / ".venv/bin/python"
    python.write_text(f"{python.read_text()}exit 1\n")
    assert "machine.reserve" not in run(dry_checkout, "setup").stderr
    (dry_checkout / place).mkdir(parents=True)
    (dry_checkout / place / "some.json").touch()
    done = run(dry_checkout, "smoke")
    assert "python -P -m tessera.machine.reserve" in done.stderr
    assert done.returncode == 0 and "smoke" in done.stdout


def test_the_launcher_knows_the_places_of_records(root):
    from tessera.machine.reserve.machine_state import ROOTS_FOLDER, USERS_FOLDERS, VARIABLE

    script = (root / "run").read_text()
    own = '${XDG_RUNTIME_DIR:+"$XDG_RUNTIME_DIR/tessera"}'
    assert f'places=({ROOTS_FOLDER} "{USERS_FOLDERS}/tessera-$EUID" {own})' in script
    assert f'places=("${VARIABLE}")' in script


@pytest.mark.parametrize(
    "name",
    [
        "a:folder",
        "a\nline",
        "a\x1bm",
        "p$(touch X)",
        "`id`",
        'a"b',
        "a\\b",
        "a;b",
        "a[b",
        "a]",
        "*",
        "?",
        "a,b",
        "a=b",
    ],
)
@pytest.mark.parametrize("verb", ["doctor", "setup", "smoke", "test"])
def test_a_path_that_something_reads_as_code_is_refused(dry_checkout, name, verb):
    folder = dry_checkout.rename(dry_checkout.parent / f"{dry_checkout.name} {name}")
    done = run(folder, verb)
    assert done.returncode == 2 and done.stdout == "" and not list(folder.rglob("X"))
    said = (f"./run {verb}", dry_checkout.name, "colon", "move")
    assert [word for word in said if word not in done.stderr] == []
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("verb", ["setup", "demo", "smoke", "reproduce", "measure", "test"])
def test_every_verb_works_in_a_folder_with_spaces_and_marks(dry_checkout, verb):
    """As in any other folder: the same words reach the same programs."""
    words = [verb, "-n"] if verb in ("smoke", "reproduce") else [verb]
    before = run(dry_checkout, *words)
    folder = dry_checkout.rename(dry_checkout.parent / f"{dry_checkout.name} it's (x) & #!%{{}}~+@^<>|\xe9")
    done = run(folder, *words)
    assert done.returncode == before.returncode == 0, done.stderr
    assert done.stdout == before.stdout.replace(str(dry_checkout), str(folder))


@pytest.mark.parametrize(
    ("kernel", "machine", "says"),
    [
        ("Darwin 23.1.0", "arm64", "this is Darwin arm64; use an x86-64 machine"),
        ("Linux 6.1.0", "aarch64", "this is Linux aarch64; use an x86-64 machine"),
        ("Linux 4.4.0-19041-Microsoft", "x86_64", "this is WSL 1, which has no Linux kernel; use WSL 2"),
    ],
)
def test_other_machines_get_one_line(dry_checkout, tmp_path, kernel, machine, says):
    (tmp_path / "uname").write_text(
        f"#!/bin/sh\ncase $1 in -sr) echo '{kernel}' ;; -sm) echo '{kernel.split()[0]} {machine}' ;;"
        f" -m) echo '{machine}' ;; esac\n"
    )
    (tmp_path / "uname").chmod(0o755)
    done = run(dry_checkout, "doctor", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and says in done.stderr
