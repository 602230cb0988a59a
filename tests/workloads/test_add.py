"""``tessera workload add`` and the kinds it writes: a program, and the scripts of a Mosmodel benchmark."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tessera.cli.workload import workload
from tessera.core.errors import TesseraError
from tessera.core.files import build_dir, repo_root
from tessera.core.units import GB, MB
from tessera.measure.mosalloc.memory_needs import PoolPeaks
from tessera.record import workloads
from tessera.record.workloads import definition
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.execution import execute
from tessera.record.workloads.kinds import prepare

ROOT = repo_root()

#: Fills as many bytes as it is told and writes what the first and the last hold.
SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    size_t bytes = strtoul(argv[1], NULL, 10);
    char *data = malloc(bytes);
    memset(data, 7, bytes);
    FILE *out = fopen("out.txt", "w");
    fprintf(out, "%d %s\n", data[0] + data[bytes - 1], getenv("OMP_NUM_THREADS"));
    return fclose(out);
}
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """An empty checkout with this one's libmosalloc; files that ``add`` writes land in it."""
    if not (build_dir("mosalloc") / "libmosalloc.so").exists():
        pytest.skip("mosalloc is not built: ./run tessera dev build mosalloc")
    root = tmp_path / "checkout"
    (root / "config" / "workloads").mkdir(parents=True)
    (root / "build").mkdir()
    (root / "build" / "mosalloc").symlink_to(build_dir("mosalloc"))
    monkeypatch.setenv("TESSERA_ROOT", str(root))
    return root


@pytest.fixture
def benchmark(tmp_path):
    """A benchmark as Mosmodel's are: three scripts and a program."""
    folder = tmp_path / "benchmark"
    folder.mkdir()
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: apt install gcc")
    (tmp_path / "fill.c").write_text(SOURCE)
    subprocess.run(["cc", "-o", folder / "fill", tmp_path / "fill.c"], check=True)
    (folder / "pre_run.sh").write_text("#! /bin/bash\necho 50000000 > bytes\n")
    (folder / "run.sh").write_text("#! /bin/bash\n./fill $(cat bytes)\n")
    (folder / "post_run.sh").write_text("#! /bin/bash\ngrep -x '14 1' out.txt\n")
    return folder


def added(*words: str):
    """The command's result; a TesseraError is its exception."""
    return CliRunner().invoke(workload, ["add", *map(str, words)])


def test_a_program_is_measured_and_runs(checkout, benchmark, tmp_path):
    done = added("filling", "--", benchmark / "fill", "30000000")
    assert done.exit_code == 0, done.exception
    found = workloads.load_workload("filling")
    size = found.size("default")
    assert found.kind == "program" and size.args == ("30000000",)
    assert 30_000_000 <= size.footprint <= 34 * MB
    assert size.heap_pool == size.anon_pool == GB
    folder = tmp_path / "run"
    _, result = execute(prepare(found, "default", folder), folder)
    assert result == {"workload": "filling", "verified": True, "verified_by": "exit status"}


def test_sizes_are_added_and_replaced_only_by_force(checkout, benchmark):
    fill = str(benchmark / "fill")
    assert added("filling", "--", fill, "1000000").exit_code == 0
    assert added("filling", "--size", "large", "--", fill, "9000000").exit_code == 0
    assert set(workloads.load_workload("filling").sizes) == {"default", "large"}
    again = added("filling", "--", fill, "2000000")
    assert "--force" in again.exception.remedy
    assert added("filling", "--force", "--threads", "--", fill, "2000000").exit_code == 0
    assert workloads.load_workload("filling").size("default").args == ("2000000",)
    assert workloads.load_workload("filling").size("large").args == ("9000000",)
    assert workloads.load_workload("filling").threads != ""


def test_another_program_under_the_name_drops_the_old_sizes(checkout, benchmark):
    assert added("filling", "--size", "large", "--", benchmark / "fill", "1000000").exit_code == 0
    assert added("filling", "--", "sort", "/etc/passwd").exit_code == 0
    assert set(workloads.load_workload("filling").sizes) == {"default"}


def test_files_become_absolute(checkout, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "numbers").write_text("2\n1\n")
    assert added("sorting", "--", "sort", "numbers").exit_code == 0
    found = workloads.load_workload("sorting")
    assert found.size("default").args == (str(tmp_path / "numbers"),)
    assert prepare(found, "default", tmp_path / "run").paths == (tmp_path / "numbers",)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("Filling", "--", "true"), "name 'Filling'"),
        (("../x", "--", "true"), "name '../x'"),
        (("x", "--size", "A B", "--", "true"), "size 'A B'"),
        (("x", "--", "no-such-program"), "'no-such-program'"),
        (("x",), "neither a program nor --scripts"),
        (("x", "--scripts", ".", "--", "true"), "both a program and --scripts"),
        (("x", "--target", "y", "--", "true"), "workload add x --target: "),
        (("x", "--", "false"), "status 1"),
        (("x", "--", "sh", "-c", "echo told >&2; exit 3"), "told"),
        (("x", "--scripts", "/nowhere"), "run.sh"),
    ],
    ids=[
        "words0-not lower-case words",
        "words1-not lower-case words",
        "words2-size 'A B'",
        "words3-no such program",
        "words4-neither a program nor --scripts",
        "words5-both a program and --scripts",
        "words6-there are no --scripts",
        "words7-it ended with status 1",
        "words8-told",
        "words9-there is no run.sh in it",
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(checkout, words, said):
    done = added(*words)
    assert isinstance(done.exception, TesseraError) and said in str(done.exception)
    assert not list((checkout / "config" / "workloads").iterdir())


def test_names_of_ours_are_refused(checkout):
    (checkout / "config/workloads/gups.yaml").write_text((ROOT / "config/workloads/gups.yaml").read_text())
    refused = added("gups", "--force", "--", "true").exception
    assert refused.code == "workload-is-ours" and "'gups'" in refused.asked and "kernel" in refused.found


def test_scripts_run_as_they_are(checkout, benchmark, tmp_path):
    done = added("mine", "--scripts", benchmark)
    assert done.exit_code == 0, done.exception
    found = workloads.load_workload("mine")
    assert (found.kind, found.executable) == ("scripts", "fill")
    assert 50_000_000 <= found.size("default").footprint <= 54 * MB  # of the target, not of the shell
    folder = tmp_path / "run"
    run = prepare(found, "default", folder)
    assert run.argv == ("bash", "run.sh") and run.target == str(folder / "fill")
    _, result = execute(run, folder)
    assert result == {"workload": "mine", "verified": True, "verified_by": "post_run.sh"}
    execute(prepare(found, "default", folder), folder)  # again, over the first copy
    assert {p.name for p in benchmark.iterdir()} == {"fill", "pre_run.sh", "run.sh", "post_run.sh"}


@pytest.mark.parametrize(
    ("script", "text", "said"),
    [
        ("pre_run.sh", "echo no input; exit 4", "pre_run.sh of .*status 4:\nno input"),
        ("post_run.sh", "exit 1", "post_run.sh of .*status 1"),
    ],
)
def test_a_script_that_fails_is_named(benchmark, tmp_path, script, text, said):
    (benchmark / script).write_text(text)
    size = Size("s", (str(benchmark),), 1, 1, 1)
    found = Workload("mine", "fill", "", "", {"s": size}, kind="scripts")
    with pytest.raises(TesseraError, match=said):
        execute(prepare(found, "s", tmp_path / "run"), tmp_path / "run")


def test_older_names_of_the_scripts_and_a_folder_that_is_not_ours(benchmark, tmp_path):
    (benchmark / "pre_run.sh").rename(benchmark / "warmup.sh")
    (benchmark / "post_run.sh").rename(benchmark / "validate.sh")
    size = Size("s", (str(benchmark),), 1, 1, 1)
    found = Workload("mine", "fill", "", "", {"s": size}, kind="scripts")
    folder = tmp_path / "run"
    _, result = execute(prepare(found, "s", folder), folder)
    assert result["verified_by"] == "validate.sh"
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").touch()
    with pytest.raises(TesseraError, match="run folder .*precious") as caught:
        prepare(found, "s", tmp_path / "precious")
    assert caught.value.code == "folder-not-empty"
    assert (tmp_path / "precious" / "file").exists()


def test_several_programs_in_the_folder_need_a_target(checkout, benchmark):
    shutil.copy(benchmark / "fill", benchmark / "other")
    assert "2 executables: fill, other" in str(added("mine", "--scripts", benchmark).exception)
    assert added("mine", "--scripts", benchmark, "--target", "fill").exit_code == 0
    missed = added("mine", "--scripts", benchmark, "--target", "other", "--force").exception
    assert "--target" in str(missed) and "bash run.sh" in str(missed)  # run.sh starts fill, not other


def test_pools_have_room_and_whole_gigabytes():
    assert PoolPeaks(0, 0).pools() == (GB, GB)
    assert PoolPeaks(GB, 3 * GB).pools() == (2 * GB, 4 * GB)
    assert PoolPeaks(900 * MB, 7 * GB).pools() == (2 * GB, 8 * GB)  # an eighth and 16 MB more, rounded up


def test_a_program_that_says_it_is_wrong_is_refused(tmp_path):
    size = Size("s", ("-c", "print('{\"verified\": false}')"), 1, 1, 1)
    found = Workload("w", sys.executable, "", "", {"s": size}, kind="program")
    with pytest.raises(TesseraError) as caught:
        execute(prepare(found, "s", tmp_path), tmp_path)
    assert caught.value.code == "verifier-failed"


def test_what_add_writes_keeps_the_contract(checkout, benchmark):
    assert added("filling", "--", benchmark / "fill", "1000000").exit_code == 0
    found = definition.read_workload(checkout / "config/workloads/filling.yaml")
    assert found.executable == str(benchmark / "fill") and found.source == "the user's own"
