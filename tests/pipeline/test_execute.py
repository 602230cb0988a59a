"""A workload run once without tracing: folder, variables, verified result, and how it may fail."""

import pytest

from tessera.core.errors import TesseraError
from tessera.record.workloads.execution import execute
from tessera.record.workloads.program_run import HOST, ProgramRun


def shell(script, **more):
    return ProgramRun(("sh", "-c", script), image=HOST, **more)


def test_the_last_line_is_the_result(tmp_path):
    done, result = execute(shell('echo hello; echo \'{"verified": true, "roi_ns": 7}\''), tmp_path)
    assert result == {"verified": True, "roi_ns": 7}
    assert done.returncode == 0 and done.stdout.startswith("hello") and done.folder == tmp_path


def test_folder_and_variables_reach_the_program(tmp_path):
    run = shell(
        "pwd; echo $WORD", folder=tmp_path, environment={"WORD": "42"}, verify=lambda done: {"v": done.stdout}
    )
    assert execute(run, tmp_path)[1] == {"v": f"{tmp_path}\n42\n"}


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo broken >&2; exit 3", "status 3:\nbroken"),
        pytest.param(
            "echo '{\"verified\": false}'",
            "verifier-failed",
            id="echo '{\"verified\": false}'-its verifier failed",
        ),
        pytest.param("echo done", "no-result", id="echo done-does not end with a JSON line"),
    ],
)
def test_what_went_wrong_is_said(tmp_path, script, words):
    with pytest.raises(TesseraError) as refused:
        execute(shell(script), tmp_path)
    assert words in (refused.value.code or refused.value.found) and refused.value.exit_code == 1


def test_a_server_is_ended_by_its_companion(tmp_path):
    run = shell(
        "sleep 60",
        companion=lambda program: program.terminate(),
        verify=lambda done: {"ended": done.returncode},
    )
    assert execute(run, tmp_path)[1]["ended"] != 0
