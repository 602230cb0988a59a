"""SIF files: where they are, how they are made, what is said without them. The engines are played."""

from __future__ import annotations

import io
import json
import sys
import tarfile

import pytest
from click.testing import CliRunner

from tessera.cli.dev.build import build
from tessera.core import files
from tessera.core.errors import TesseraError
from tessera.machine.container import engine, images, sif
from tessera.machine.container.image_inputs import kernel_tag, stem, toolchain_tag, workloads_tag
from tessera.machine.container.toolchain import (
    ApptainerToolchain,
    kernel_toolchain,
    toolchain,
    workloads_toolchain,
)

#: Writes its arguments down. ``exec`` runs nothing; ``build`` copies the archive's bytes into the SIF file.
APPTAINER = """#!{python}
import json, pathlib, sys, tarfile
words = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps(words) + "\\n")
if words == ["version"]:
    print("1.4.5-2")
elif words[0] == "build":
    with tarfile.open(words[-1].removeprefix("docker-archive:"), "r:") as archive:
        read = lambda name: archive.extractfile(name).read().decode()
        (image,) = json.loads(read("manifest.json"))
        layers = [read(name) for name in image["Layers"]]
        if layers == ["broken"]:
            sys.exit("FATAL: no layers-17")
        pathlib.Path(words[-2]).write_text(" ".join([read(image["Config"]), *layers]))
elif "dpkg-query" in words:
    print("libc6:amd64=2.36-9")
"""
DOCKER = """#!{python}
import json, sys
words = sys.argv[1:]
if words[0] == "version":
    print("20.10")
elif words[0] == "image":
    ids = json.load(open({images!r}))
    name = words[-1] if words[-1] in ids.values() else ids.get(words[-1])
    sys.exit(print(name) if name else 1)
elif words[0] == "save":
    sys.stdout.buffer.write(open({saved!r}, "rb").read())
"""


def write_archive(path, *tags: str, layer: str = "top", mode: str = "w") -> None:
    """What ``docker save`` writes: layers that images share are files of the first, links in the others."""
    listed = []
    with tarfile.open(path, mode) as archive:

        def add(name: str, content: bytes = b"", link: str = "") -> str:
            entry = tarfile.TarInfo(name)
            entry.size, entry.type, entry.linkname = len(content), tarfile.SYMTYPE if link else b"0", link
            archive.addfile(entry, io.BytesIO(content))
            return name

        for i, tag in enumerate(tags):
            own = add(f"own{i}/layer.tar", f"{layer}{i}".encode() if i else layer.encode())
            base = add(f"base{i}/layer.tar", *((b"", "../base0/layer.tar") if i else (b"base",)))
            layers = [base, own] if layer == "top" else [own]
            config = add(f"config{i}.json", tag.encode())
            listed.append({"Config": config, "RepoTags": [tag], "Layers": layers})
        add("manifest.json", json.dumps(listed).encode())


@pytest.fixture
def machine(tmp_path, monkeypatch, root):
    """A machine whose programs are given; its images and the calls of apptainer."""

    class Machine:
        def __init__(self):
            self.commands = tmp_path / "commands"
            self.commands.mkdir()
            self.log, self.images = tmp_path / "calls", tmp_path / "images.json"
            self.saved = tmp_path / "saved"
            self.folder = tmp_path / "build" / "images"

        def install(self, name: str, text: str) -> None:
            path = self.commands / name
            names = {"log": self.log, "images": self.images, "saved": self.saved}
            known = {key: str(value) for key, value in names.items()}
            path.write_text(text.format(python=sys.executable, **known))
            path.chmod(0o755)

        def apptainer(self) -> None:
            self.install("apptainer", APPTAINER)

        def docker(self, *tags: str) -> None:
            self.install("docker", DOCKER)
            self.images.write_text(json.dumps({tag: f"sha256:of-{tag}" for tag in tags}))
            self.folder.mkdir(parents=True, exist_ok=True)
            for tag in tags:
                manifest = {"id": f"sha256:of-{tag}", "packages": {}, "origin": "live"}
                (self.folder / f"{stem(tag)}.json").write_text(json.dumps(manifest))
            write_archive(self.saved, *tags[:1])

        def calls(self, verb: str) -> list[list[str]]:
            lines = self.log.read_text().splitlines() if self.log.exists() else []
            return [words for line in lines if verb in (words := json.loads(line))]

        def package(self, *tags: str) -> None:
            (tmp_path / "offline").mkdir()
            (tmp_path / "offline" / "index.json").write_text(json.dumps({"images": dict.fromkeys(tags, {})}))
            write_archive(tmp_path / "offline" / "images.tar.gz", *tags, mode="w:gz")

    one = Machine()
    one.install("prlimit", '#!/bin/sh\nshift\nexec "$@"\n')
    (tmp_path / "docker").symlink_to(root / "docker")
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    monkeypatch.setenv("TESSERA_ENGINE", "apptainer")
    monkeypatch.setenv("PATH", str(one.commands))
    monkeypatch.delenv(sif.FOLDER, raising=False)
    engine.require_apptainer.cache_clear()
    toolchain.cache_clear()
    yield one
    engine.require_apptainer.cache_clear()
    toolchain.cache_clear()


def run(*words: str):
    return CliRunner().invoke(build, words)


def test_without_apptainer_the_engine_is_an_error(machine):
    with pytest.raises(TesseraError) as error:
        toolchain()
    assert error.value.code == "apptainer-not-installed" and "--engine none" in error.value.remedy


def test_an_apptainer_that_does_not_work_is_an_error(machine):
    machine.install("apptainer", "#!/bin/sh\necho no-libc-17 >&2; exit 1\n")
    with pytest.raises(TesseraError, match="no-libc-17") as error:
        toolchain()
    assert error.value.code == "apptainer-does-not-work"


@pytest.mark.parametrize("folder", ["", "shared"])
def test_a_missing_file_names_tag_file_and_commands(machine, tmp_path, monkeypatch, folder):
    machine.apptainer()
    if folder:
        monkeypatch.setenv(sif.FOLDER, str(tmp_path / folder))
    expected = (tmp_path / folder if folder else machine.folder) / f"{stem(workloads_tag())}.sif"
    with pytest.raises(TesseraError, match=workloads_tag()) as error:
        workloads_toolchain()
    assert error.value.code == "no-sif" and str(expected) in error.value.found
    for command in ("build --workloads-image", "build --sif workloads", str(expected.parent), sif.FOLDER):
        assert command in error.value.remedy


def test_each_image_is_a_file_of_its_own(machine):
    machine.apptainer()
    machine.folder.mkdir(parents=True)
    for tag in (toolchain_tag(), kernel_tag()):
        (machine.folder / f"{stem(tag)}.sif").write_text(tag)
    for tools, tag in ((toolchain(), toolchain_tag()), (kernel_toolchain(), kernel_tag())):
        assert isinstance(tools, ApptainerToolchain) and tools.tag == tag


def test_description_names_what_ran(machine, monkeypatch):
    monkeypatch.setattr(files, "SETTLED_NS", -1)
    machine.apptainer()
    machine.folder.mkdir(parents=True)
    file = machine.folder / f"{stem(toolchain_tag())}.sif"
    file.write_text("one")
    one = toolchain().describe()
    assert (one["engine"], one["image"], one["engine_version"]) == ("apptainer", toolchain_tag(), "1.4.5-2")
    assert one["sif_sha256"] == sif.sha256_of(file)
    kept = json.loads((machine.folder / f"{stem(toolchain_tag())}.sif.json").read_text())
    assert kept["sif_sha256"] == one["sif_sha256"] and kept["packages"] == {"libc6:amd64": "2.36-9"}
    assert toolchain().describe() == one and len(machine.calls("dpkg-query")) == 1
    for text in ("", '{"sif_sh', "null"):
        (machine.folder / f"{stem(toolchain_tag())}.sif.json").write_text(text)
        assert toolchain().describe() == one
    file.write_text("another")  # of another length: a new file
    assert toolchain().describe()["sif_sha256"] == sif.sha256_of(file) != one["sif_sha256"]


def test_docker_images_become_files(machine):
    machine.apptainer()
    machine.docker(toolchain_tag())
    done = run("--sif")
    path = machine.folder / f"{stem(toolchain_tag())}.sif"
    assert done.exit_code == 0 and done.stdout.split() == [str(path)]
    assert path.read_text() == f"{toolchain_tag()} base top"
    assert set(machine.folder.iterdir()) == {path, path.with_suffix(".json")}  # the tar is removed
    assert run("--sif").exit_code == 0 and len(machine.calls("build")) == 1  # nothing to do


def test_without_apptainer_they_are_tar_files_which_another_machine_converts(machine):
    machine.docker(toolchain_tag())
    done = run("--sif", "toolchain")
    tar = machine.folder / f"{stem(toolchain_tag())}.tar"
    assert done.exit_code == 0 and done.stdout.split() == [str(tar)]
    assert f"docker-archive:{tar.name}" in done.stderr
    (machine.commands / "docker").unlink()
    machine.apptainer()
    done = run("--sif", "toolchain")
    assert done.exit_code == 0 and done.stdout.split() == [str(tar.with_suffix(".sif"))]
    assert machine.calls("build")[0][-1] == f"docker-archive:{tar}"
    assert tar.exists()  # a file that the user put there


def test_the_unpacked_package_is_a_source(machine):
    """Its archive has several images and is compressed; Apptainer reads neither."""
    machine.apptainer()
    machine.package(workloads_tag(), toolchain_tag())
    done = run("--image")
    assert done.exit_code == 0 and done.stdout.strip() == toolchain_tag()
    file = machine.folder / f"{stem(toolchain_tag())}.sif"
    assert file.read_text() == f"{toolchain_tag()} base top1"
    assert set(machine.folder.iterdir()) == {file, machine.folder / f"{file.name}.json"}
    with pytest.raises(TesseraError) as error:
        images.ensure_kernel_image(lambda text: None)
    assert error.value.code == "no-sif"


def test_an_archive_of_another_image_is_an_error(machine):
    machine.apptainer()
    machine.folder.mkdir(parents=True)
    write_archive(machine.folder / f"{stem(toolchain_tag())}.tar", kernel_tag())
    error = run("--sif", "toolchain").exception
    assert isinstance(error, TesseraError) and error.code == "no-image-in-archive"
    assert kernel_tag() in error.found and toolchain_tag() in error.asked
    (machine.folder / f"{stem(toolchain_tag())}.tar").write_text("no archive")
    assert run("--sif", "toolchain").exception.code == "no-image-in-archive"


def test_nothing_is_built_without_a_source(machine):
    machine.apptainer()
    machine.docker()
    for words in (["--sif"], ["--sif", "kernel"]):
        error = run(*words).exception
        assert isinstance(error, TesseraError) and error.code == "no-image-to-export"
    assert kernel_tag() in str(error) and "./run tessera lab kernel build" in error.remedy
    error = run("--sif", "compiler").exception
    assert isinstance(error, TesseraError) and "vips" in error.remedy


def test_a_failed_conversion_leaves_nothing(machine):
    machine.apptainer()
    machine.folder.mkdir(parents=True)
    tar = machine.folder / f"{stem(toolchain_tag())}.tar"
    write_archive(tar, toolchain_tag(), layer="broken")
    error = run("--sif", "toolchain").exception
    assert (
        isinstance(error, TesseraError) and error.code == "sif-conversion" and "no layers-17" in error.found
    )
    assert [path.name for path in machine.folder.iterdir()] == [tar.name]


def test_a_file_that_apptainer_cannot_start_is_an_error(machine):
    machine.install("apptainer", '#!/bin/sh\n[ "$1" = version ] || {{ echo no-fuse-17 >&2; exit 255; }}\n')
    machine.folder.mkdir(parents=True)
    (machine.folder / f"{stem(toolchain_tag())}.sif").write_text("x")
    with pytest.raises(TesseraError, match="no-fuse-17") as error:
        toolchain().describe()
    assert error.value.code == "sif-does-not-start"
