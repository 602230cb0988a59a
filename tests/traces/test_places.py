"""Where a recorded program is: in an image, in a folder of its own, or behind a script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.container import toolchain
from tessera.record import traces

pytestmark = pytest.mark.toolchain

PROGRAM = """
#include <string.h>
#include <unistd.h>
int main(int argc, char** argv) {
  char here[4096];
  if (!getcwd(here, sizeof here)) return 1;
  volatile uint64_t* a = (volatile uint64_t*)malloc(1 << 20);
  for (int i = 0; i < 1000; i++) a[i] = i;
  const char* word = getenv("WORD");
  printf("{\\"verified\\":true,\\"here\\":\\"%s\\",\\"word\\":\\"%s\\",\\"argument\\":\\"%s\\"}\\n",
         here, word ? word : "", argc > 1 ? argv[1] : "");
  return 0;
}
"""


def test_folder_and_environment_reach_the_program(compiled, tmp_path: Path):
    folder = tmp_path / "folder"
    folder.mkdir()
    done = traces.record_program(
        [compiled("where", PROGRAM), "x"], tmp_path / "t.tst", folder=folder, environment={"WORD": "seen"}
    )
    assert json.loads(done.stdout) == {
        "verified": True,
        "here": str(folder),
        "word": "seen",
        "argument": "x",
    }


def test_relative_arguments_are_the_callers(compiled, tmp_path: Path, monkeypatch):
    here, out = tmp_path / "here", tmp_path / "elsewhere" / "t.tst"
    here.mkdir()
    program = compiled("where", PROGRAM)
    monkeypatch.chdir(here)
    done = traces.record_program([program], out)
    assert json.loads(done.stdout)["here"] == str(here)
    assert sorted(path.name for path in tmp_path.rglob("*.tst")) == ["t.tst"]


def test_a_program_of_the_image(tmp_path: Path):
    done = traces.record_program(["expr", "20", "+", "22"], tmp_path / "t.tst", where=toolchain())
    assert done.stdout == "42\n"
    assert traces.trace_info(done.trace)["kernel_modelled"]
    with pytest.raises(TesseraError, match="not-in-the-image") as caught:
        traces.record_program(["not-in-the-image"], tmp_path / "u.tst", where=toolchain())
    assert caught.value.code == "program-not-in-image"


@pytest.mark.parametrize(
    "start", ["{program} from-script", "exec {program} from-script", "env {program} from-script"]
)
def test_the_target_of_a_script_is_recorded(compiled, dumped, tmp_path: Path, start: str):
    program = compiled("target", PROGRAM)
    script = program.with_name("run.sh")
    script.write_text("#!/bin/bash\nset -e\nls >/dev/null\n" + start.format(program="./target") + "\n")
    done = traces.record_program(
        ["bash", str(script)],
        tmp_path / "t.tst",
        folder=program.parent,
        paths=[program.parent],
        target=str(program),
        kernel_accesses=False,
    )
    assert json.loads(done.stdout)["argument"] == "from-script"
    _, accesses = dumped(done.trace)
    assert sum(kind == "store" for kind, _ in accesses) >= 1000
    assert traces.trace_info(done.trace)["pools"][1]["used_bytes"] >= 1 << 20  # the target had the layout


def test_a_script_that_starts_its_target_twice_or_never_is_an_error(compiled, tmp_path: Path):
    program = compiled("target", PROGRAM)
    script = program.with_name("run.sh")
    keywords = {"folder": program.parent, "paths": [program.parent], "target": str(program)}
    script.write_text("./target a\n./target b\n")
    with pytest.raises(TesseraError, match="second time"):
        traces.record_program(["bash", str(script)], tmp_path / "t.tst", **keywords)
    script.write_text("echo nothing\n")
    with pytest.raises(TesseraError) as caught:
        traces.record_program(["bash", str(script)], tmp_path / "t.tst", **keywords)
    assert caught.value.code == "no-trace"
    assert not (tmp_path / "t.tst").exists()
