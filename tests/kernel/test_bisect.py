"""A row a patch, from kernels that were not built or whose guest is played here."""

import subprocess
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.lab.kernel import build_tools, image, patch_tests, source
from tessera.lab.kernel.guest import GuestRun
from tessera.lab.study import Run


def play(monkeypatch, tmp_path, unbuilt, guests):
    """Bisect with patches ``unbuilt`` missing and ``guests`` (patch -> status or error) in QEMU's place."""
    for patch in source.patches():
        (tmp_path / patch.stem).mkdir()
        name = "errors" if patch.name in unbuilt else "bzImage"
        (tmp_path / patch.stem / name).write_text("error: no such thing\n")

    def run(tools, program, script, out, timeout_seconds):
        status = guests.get(f"{program.kernel.parent.name}.patch", 0)
        if isinstance(status, TesseraError):
            raise status
        return GuestRun(status, out, "6.12", 5.0)

    monkeypatch.setattr(image, "build_guest", lambda say: tmp_path)
    folders = {patch: tmp_path / patch.stem for patch in source.patches()}
    monkeypatch.setattr(patch_tests, "build_series", lambda say, accept_series: folders)
    monkeypatch.setattr(image, "kernel_tools", lambda say: None)
    monkeypatch.setattr(patch_tests, "run_in_guest", run)
    run = Run(tmp_path / "out")
    table = patch_tests.bisect.function(run)
    assert len(run.wrong) == (table.outcome != "passed").sum()
    return table.set_index("patch")


def test_every_patch_has_its_outcome(monkeypatch, tmp_path):
    names = [patch.name for patch in source.patches()]
    crash = TesseraError("a run in the guest", "its machine ended early", "read its console")
    table = play(monkeypatch, tmp_path, [names[2]], {names[4]: 1, names[5]: crash})
    assert table.outcome[names[2]] == "not built" and table.found[names[2]].count("no such thing") == 1
    assert table.outcome[names[4]] == table.outcome[names[5]] == "failed in the guest"
    assert "ended early" in table.found[names[5]]
    assert (table.drop([names[2], names[4], names[5]]).outcome == "passed").all() and len(table) == len(names)


def test_the_series_script_refuses_without_arguments():
    script = source.kernel_folder() / "build-series.sh"
    done = subprocess.run([script], capture_output=True, text=True)
    assert done.returncode != 0 and "usage: build-series.sh WORK SERIES" in done.stderr


class Builder:
    """In the toolchain's place: "builds" what the listing asks for, and remembers it."""

    def __init__(self):
        self.built = []

    def describe(self):
        return {"compiler": "gcc 12"}

    def run(self, argv, **_):
        if argv[0] == "dpkg-query":
            return subprocess.CompletedProcess(argv, 0, source.recorded_source().version, "")
        self.built.clear()
        for line in Path(argv[2]).read_text().splitlines():
            patch, folder = map(Path, line.split())
            if not (folder / "bzImage").exists():
                folder.mkdir(parents=True)
                (folder / "bzImage").touch()
                self.built.append(patch.stem)
        return subprocess.CompletedProcess(argv, 0, "", "")


def test_a_changed_patch_builds_the_kernels_from_it_on(monkeypatch, tmp_path):
    series = [tmp_path / f"{n}.patch" for n in range(1, 5)]
    for patch in series:
        patch.write_text(f"patch {patch.stem}")
    builder = Builder()
    monkeypatch.setattr(patch_tests, "patches", lambda: series)
    monkeypatch.setattr(image, "kernel_tools", lambda say: builder)
    monkeypatch.setattr(build_tools, "build_folder", lambda: tmp_path / "build")
    first = patch_tests.build_series(lambda line: None)
    assert builder.built == ["1", "2", "3", "4"]
    assert patch_tests.build_series(lambda line: None) == first and builder.built == ["1", "2", "3", "4"]
    series[2].write_text("another third patch")
    second = patch_tests.build_series(lambda line: None)
    assert builder.built == ["3", "4"]
    assert [first[p] == second[p] for p in series] == [True, True, False, False]
