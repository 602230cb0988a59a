"""The series is tried on a small source tree by the script that tries it on Linux."""

from __future__ import annotations

import shutil
import subprocess
import tarfile

import pytest

from tessera.lab.kernel import build_tools, source

PATCH = """--- a/mm.c
+++ b/mm.c
@@ -1,3 +1,3 @@
 one
-two
+replicated
 three
"""


@pytest.fixture
def tree(tmp_path):
    """Apply a patch to a tree with the file mm.c of these lines; returns the finished process."""
    if not all(map(shutil.which, ("patch", "make", "xz"))):
        pytest.skip("patch, make or xz is not installed")
    folder = tmp_path / "linux-source-6.12"
    folder.mkdir()
    (folder / "Makefile").write_text("kernelversion:\n\t@echo 6.12.130\n")
    (tmp_path / "0001.patch").write_text(PATCH)
    (tmp_path / "series").write_text(f"{tmp_path / '0001.patch'}\n")

    def apply(*lines: str) -> subprocess.CompletedProcess[str]:
        (folder / "mm.c").write_text("".join(f"{line}\n" for line in lines))
        archive = tmp_path / "tree.tar.xz"
        with tarfile.open(archive, "w:xz") as packed:
            packed.add(folder, folder.name)
        script = source.component_script("apply-series.sh")[0]
        words = [script, tmp_path / "work", tmp_path / "series"]
        env = {"PATH": "/usr/bin:/bin", "KERNEL_SOURCE": str(archive)}
        return subprocess.run(words, env=env, capture_output=True, text=True)

    yield apply
    assert not (tmp_path / "work").exists()


def test_a_patch_that_fits_applies(tree):
    assert tree("one", "two", "three").returncode == 0


@pytest.mark.parametrize("lines", [("one", "2", "three"), ("ONE", "two", "three")])
def test_another_line_or_other_context_stops_it(tree, lines):
    """Without fuzz, a changed line of context is enough."""
    done = tree(*lines)
    assert done.returncode == 2
    assert "0001.patch" in done.stderr and "6.12.130" in done.stderr


class Tools:
    """Plays the toolchain: the script ends with a status and a message."""

    def __init__(self, status: int, message: str = ""):
        self.status, self.message, self.runs = status, message, 0

    def describe(self):
        return {"compiler": "gcc 12"}

    def run(self, argv, **_):
        self.runs += 1
        assert argv[0].name == "apply-series.sh" and len(argv[2].read_text().split()) == len(source.patches())
        return subprocess.CompletedProcess(argv, self.status, "", self.message)


def test_the_answer_is_kept_for_a_version(monkeypatch, tmp_path):
    monkeypatch.setattr(build_tools, "build_folder", lambda: tmp_path)
    good, bad = (
        Tools(0),
        Tools(2, f"apply-series.sh: patch {source.kernel_folder()}/patches/0003: no\n  what to do: rebase\n"),
    )
    assert (
        source.why_not_applied(good, "6.12.130-1", print)
        == source.why_not_applied(good, "6.12.130-1", print)
        == ""
    )
    assert good.runs == 1
    assert source.why_not_applied(bad, "6.12.131-1", print) == "apply-series.sh: patch patches/0003: no"
