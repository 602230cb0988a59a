"""Docker's images: build missing ones, record their contents, write them as files for engine apptainer.

For each image, ``build/images/`` gets ``<name>-<hash>.json`` (arguments, packages with versions, and for the
base the SHA-256 of its root file system, which is the same wherever the archive serves the same packages)
and ``<name>-<hash>.log``. :mod:`image_packages` has the order of sources.

An image is used only if its id is the one in its manifest, or in ``offline/index.json`` of an unpacked
package: everybody who may use the engine can give the tag to another image.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.files import build_dir, making, sha256_of, write_text
from tessera.machine.container import image_packages
from tessera.machine.container.command import docker_run
from tessera.machine.container.engine import (
    APPTAINER,
    container_engine_name,
    docker,
    docker_client,
    require_docker,
    server_version,
)
from tessera.machine.container.image_inputs import (
    IMAGES,
    NEWER_SUITE,
    BaseArguments,
    base_tag,
    build_command,
    docker_folder,
    kernel_tag,
    libc_tag,
    name_of,
    programs_tag,
    stem,
    toolchain_tag,
    vips_tag,
    workloads_tag,
)
from tessera.machine.container.image_packages import LIVE, PACKAGE, SNAPSHOT, differences
from tessera.machine.container.sif import (
    archive_of,
    convert_to_sif,
    ensure_sif,
    sif_folder,
    sif_path,
    tar_path,
)
from tessera.machine.container.watchdog import run_to_end

Say = Callable[[str], None]


def image_id(tag: str) -> str:
    """Id of the image that was built here, or that the unpacked package has; empty if the engine lacks it."""
    manifest, _ = _whole_manifest(tag)
    known = [str(manifest["id"])] if manifest else []
    known += filter(None, [image_packages.packaged_id(tag)])
    return next((one for one in known if engine_id(one) == one), "")


def engine_id(name: str) -> str:
    """Id of the image that the engine has under a tag or id; empty if it has none."""
    return docker("image", "inspect", "--format", "{{.Id}}", name).stdout.strip()


def image_exists(tag: str) -> bool:
    """Whether the engine has the image, and not only another one with its tag."""
    return bool(image_id(tag))


def require_image(tag: str) -> str:
    """Id of the image, for ``docker run``; from now on its tag names it, too.

    Raises:
        TesseraError: no engine, or no such image (``image-unknown``).
    """
    if not image_exists(tag):
        require_docker()
        raise TesseraError(f"image {tag}", objection(tag), build_command(tag), code="image-unknown")
    identity = image_id(tag)
    docker("tag", identity, tag)  # for commands that take no id, such as docker build
    return identity


def objection(tag: str) -> str:
    """Why the engine's images can't be used as ``tag``."""
    manifest, wrong = _whole_manifest(tag)
    known = f"{manifest['id']}, which was built here" if manifest else ""
    if not known and (packaged := image_packages.packaged_id(tag)):
        known = f"{packaged}, which offline/index.json names"
    if other := _id_under_tag(tag):
        reason = f"and not {known}" if known else f"but {wrong}, so its origin is unknown"
        return f"the engine has {other} under this tag, {reason}"
    if known:
        return f"the engine does not have {known}"
    damaged = f"; {wrong}" if _manifest_path(tag).exists() else ""
    return f"the engine does not have this image, which the files of docker/ define{damaged}"


def _id_under_tag(tag: str) -> str:
    """As :func:`engine_id`, also without a docker command."""
    return engine_id(tag) if shutil.which("docker") else ""


def ensure_images(say: Say) -> str:
    """Build missing images, report to ``say``, and return the tag of the toolchain.

    Engine apptainer builds no image: it takes the file from the unpacked package, or raises an error.
    """
    arguments = BaseArguments.from_environment()
    toolchain = toolchain_tag(arguments)
    if container_engine_name() == APPTAINER:
        return ensure_sif(toolchain, say)
    if image_exists(toolchain):
        return toolchain
    require_docker()
    with _images_lock() as folder:
        if not image_exists(toolchain):
            _say_objection(toolchain, say)
            image_packages.first_origin(toolchain, _makers(arguments, folder, say), say)
    return toolchain


def _say_objection(tag: str, say: Say) -> None:
    """Say that an image is made again although there is a manifest or an image of this tag."""
    if _manifest_path(tag).exists() or _id_under_tag(tag):
        say(f"{tag} is made again: {objection(tag)}")


def _makers(arguments: BaseArguments, folder: Path, say: Say) -> dict[str, Callable[[], None]]:
    """Origin -> what makes the toolchain's image. An archive that the user chose has no substitute."""

    def build(archive: BaseArguments, origin: str) -> None:
        base, toolchain = base_tag(arguments), toolchain_tag(arguments)
        if origin == SNAPSHOT or not image_exists(base):
            say(f"building {base} from Debian's archive (about 40 s)")
            _build_base(base, archive, folder)
            # The toolchain on top has these packages, too, and says which differ.
            _note(base, folder, origin, lambda line: None, arguments=arguments.as_published())
        say(f"building {toolchain} (about 2 min)")
        _build_on(toolchain, base, folder)
        _note(toolchain, folder, origin, say)

    def build_from_snapshot() -> None:
        listed = image_packages.snapshot_sources(arguments.suite, folder / "snapshot.list")
        build(replace(arguments, mirror=str(listed)), SNAPSHOT)

    makers = {LIVE: lambda: build(arguments, LIVE)}
    if not arguments.mirror:
        makers[SNAPSHOT] = build_from_snapshot
    return makers | _packaged_maker(toolchain_tag(arguments), folder, say)


def _packaged_maker(tag: str, folder: Path, say: Say) -> dict[str, Callable[[], None]]:
    """The images of an unpacked package as an origin; empty in a checkout."""

    def load() -> None:
        image_packages.load_packaged(tag)
        if not image_exists(tag):
            raise image_packages.other_image(tag, engine_id(tag))
        _record(tag, folder, {"id": image_packages.packaged_id(tag)})
        _note(tag, folder, PACKAGE, say)

    return {PACKAGE: load} if image_packages.packaged() else {}


def ensure_programs_image(say: Say) -> str:
    """Like :func:`ensure_images`, and the programs' image on top; returns that one's tag."""
    return _ensure_on_toolchain(programs_tag(BaseArguments.from_environment()), say)


def ensure_workloads_image(say: Say) -> str:
    """Like :func:`ensure_images`, and the image of Debian's workloads on top; returns that one's tag."""
    return _ensure_on_toolchain(workloads_tag(BaseArguments.from_environment()), say)


def ensure_vips_image(say: Say) -> str:
    """Like :func:`ensure_images`, and the image of the workload vips on top; returns that one's tag."""
    return _ensure_on_toolchain(vips_tag(BaseArguments.from_environment()), say)


def ensure_kernel_image(say: Say) -> str:
    """Like :func:`ensure_images`, and the kernel's image on top; returns that one's tag."""
    return _ensure_on_toolchain(kernel_tag(BaseArguments.from_environment()), say)


def ensure_libc_image(say: Say) -> str:
    """The tag of the image with the C library of a newer Debian; builds it if it is missing."""
    arguments = replace(BaseArguments.from_environment(), suite=NEWER_SUITE)
    tag = libc_tag(arguments)
    if not image_exists(tag):
        require_docker()
        with _images_lock() as folder:
            if not image_exists(tag):
                _say_objection(tag, say)
                say(f"building {tag} from Debian's archive (about 10 s)")
                _build_libc(tag, arguments, folder)
                _note(tag, folder, LIVE, say)
    return tag


def _ensure_on_toolchain(tag: str, say: Say) -> str:
    if container_engine_name() == APPTAINER:
        return ensure_sif(tag, say)
    if image_exists(tag):
        return tag
    toolchain = ensure_images(say)
    with _images_lock() as folder:
        if not image_exists(tag):
            _say_objection(tag, say)
            say(f"building {tag} (1 to 3 min)")
            archive = str((image_manifest(toolchain) or {}).get("origin", LIVE))

            def build() -> None:
                _build_on(tag, toolchain, folder)
                _note(tag, folder, archive, say)

            image_packages.first_origin(tag, {archive: build} | _packaged_maker(tag, folder, say), say)
    return tag


def _import(tag: str, arguments: BaseArguments, folder: Path) -> tuple[Path, str]:
    """Build the image of ``tag`` by its ``build.sh``; the root file system and its SHA-256."""
    if shutil.which("mmdebstrap") is None:
        raise TesseraError(f"image {tag}", "mmdebstrap is not installed", "sudo apt-get install mmdebstrap")
    rootfs = folder / f"{stem(tag)}.tar"
    script = _folder_of(tag) / "build.sh"
    _logged([str(script), str(rootfs)], tag, folder, arguments.as_environment())
    sha256 = sha256_of(rootfs)
    _logged([docker_client(), "import", str(rootfs), tag], tag, folder)
    return rootfs, sha256


def _build_libc(tag: str, arguments: BaseArguments, folder: Path) -> None:
    rootfs, sha256 = _import(tag, arguments, folder)
    facts = {"arguments": arguments.as_published(), "rootfs_sha256": sha256}
    _record(tag, folder, facts | {"packages": {}})  # it has no dpkg
    rootfs.unlink()


def _build_base(tag: str, arguments: BaseArguments, folder: Path) -> None:
    rootfs, sha256 = _import(tag, arguments, folder)
    epoch_file = rootfs.with_name(rootfs.name + ".epoch")
    _record(
        tag,
        folder,
        {
            "arguments": arguments.as_published(),
            "source_date_epoch": int(epoch_file.read_text()),
            "rootfs_sha256": sha256,
        },
    )
    rootfs.unlink()
    epoch_file.unlink()


def _build_on(tag: str, base: str, folder: Path) -> None:
    """Build the image of ``tag`` by its Dockerfile, on ``base``."""
    require_image(base)
    context = str(_folder_of(tag))
    _logged([docker_client(), "build", "--build-arg", f"BASE={base}", "--tag", tag, context], tag, folder)
    _record(tag, folder, {"arguments": {"BASE": base}})


def _record(tag: str, folder: Path, facts: dict[str, object]) -> None:
    """Begin the image's manifest: its id, the facts given, and the packages in it. :func:`_note` ends it."""
    facts = {"image": tag, "id": engine_id(tag)} | facts
    if "packages" not in facts:
        query = ["dpkg-query", "-W", "-f", "${binary:Package}=${Version}\n"]
        done = subprocess.run(docker_run(str(facts["id"]), query), capture_output=True, text=True, check=True)
        facts["packages"] = dict(line.split("=", 1) for line in done.stdout.split())
    _write_manifest(folder / f"{stem(tag)}.json", facts)


def _note(tag: str, folder: Path, origin: str, say: Say, **facts: object) -> None:
    """Add to the image's manifest where it comes from, and the packages that differ from the record.

    Raises:
        TesseraError: they differ although the snapshot service must give the recorded ones
            (``image-snapshot``).
    """
    path = folder / f"{stem(tag)}.json"
    if not path.exists():
        return
    content = json.loads(path.read_text())
    other = differences(name_of(tag), content["packages"])
    if other and origin == SNAPSHOT:
        raise image_packages.other_snapshot(tag, other)
    if other:
        say(f"{tag}: {len(other)} packages have other versions than docker/packages.csv; {path} lists them")
    _write_manifest(path, content | facts | {"origin": origin, "differs": other})


def _write_manifest(path: Path, content: dict[str, object]) -> None:
    write_text(path, json.dumps(content, indent=2) + "\n")


def _manifest_path(tag: str) -> Path:
    return build_dir("images") / f"{stem(tag)}.json"


def image_manifest(tag: str) -> dict[str, object] | None:
    """The manifest of an image that was built here; None if it was not, or if the file is damaged."""
    try:
        found = json.loads(_manifest_path(tag).read_text())
    except (FileNotFoundError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _whole_manifest(tag: str) -> tuple[dict[str, object], str]:
    """The manifest of an image whose making came to its end, or ``{}`` and why there is none."""
    path = _manifest_path(tag)
    found = image_manifest(tag)
    if found is None:
        return {}, f"{path} {'is empty or damaged' if path.exists() else 'does not exist'}"
    if lacking := sorted({"id", "packages", "origin"} - {key for key in found if found[key] is not None}):
        return {}, f"{path} has no {', '.join(lacking)}: the image was not finished"
    return found, ""


def _logged(argv: list[str], tag: str, folder: Path, env: dict[str, str] | None = None) -> None:
    """Run one step of a build with output to the log of the image; a failure shows the end of the log."""
    log = folder / f"{stem(tag)}.log"
    with log.open("a") as stream:
        status = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            env=os.environ | (env or {}),
        ).returncode
    if status != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        raise TesseraError(
            f"image {tag}",
            f"'{Path(argv[0]).name}' exited with status {status}:\n{tail}",
            f"read {log}; this machine needs Debian's archive (for a mirror, set TESSERA_DEBIAN_MIRROR)",
            exit_code=EXIT_FAILED,
        )


def _folder_of(tag: str) -> Path:
    return docker_folder(name_of(tag))


@contextmanager
def _images_lock() -> Iterator[Path]:
    """``build/images``, locked by one build at a time."""
    folder = build_dir("images")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


# Write docker's images as files: SIF files, or tar files where Apptainer is missing.


def export_images(names: Sequence[str], say: Say) -> list[Path]:
    """SIF files of the images named, or of all images that this machine has; tar files without Apptainer.

    Files that exist are kept: their names have the hash of the image's inputs.

    Raises:
        TesseraError: an unknown name, an image that this machine does not have, or a failed conversion.
    """
    for name in names:
        if name not in IMAGES:
            raise unknown_name("image", name, tuple(IMAGES))
    tags = [IMAGES[name]() for name in names or IMAGES]
    has_docker = shutil.which("docker") is not None and server_version() is not None

    def here(tag: str) -> bool:
        return sif_path(tag).is_file() or archive_of(tag) is not None or (has_docker and image_exists(tag))

    missing = [tag for tag in tags if not here(tag)]
    if names and missing or len(missing) == len(tags):
        raise TesseraError(
            f"SIF file of image {missing[0]}",
            "no Docker engine of this machine has this image, and there is no archive of it: "
            f"neither {tar_path(missing[0])} nor offline/images.tar.gz of an unpacked package",
            f"on a machine with Docker: {build_command(missing[0])}",
            code="no-image-to-export",
        )
    return [_export_image(tag, say) for tag in tags if tag not in missing]


def _export_image(tag: str, say: Say) -> Path:
    if sif_path(tag).is_file():
        say(f"{tag}: the SIF file is here already")
        return sif_path(tag)
    archive = archive_of(tag)
    saved = archive is None
    if archive is None:
        archive = _save_archive(tag, say)
    if shutil.which("apptainer") is None:
        say(
            f"{tag}: apptainer is not installed here. On a machine that has it: copy {archive.name} to its "
            f"folder of SIF files, then ./run --engine apptainer tessera dev build --sif; or: apptainer "
            f"build {sif_path(tag).name} docker-archive:{archive.name}"
        )
        return archive
    made = convert_to_sif(tag, archive, say)
    if saved:
        archive.unlink()
    return made


def _save_archive(tag: str, say: Say) -> Path:
    """The image as ``docker save`` writes it."""
    target = tar_path(tag)
    require_image(tag)
    say(f"docker save {tag}")
    sif_folder().mkdir(parents=True, exist_ok=True)
    with making(target) as unfinished, unfinished.open("wb") as stream:
        words, asked = [docker_client(), "save", tag], f"docker save {tag}"
        done = run_to_end(words, asked, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise TesseraError(
                asked,
                done.stderr.strip()[-300:],
                f"free space for {target}",
                exit_code=EXIT_FAILED,
            )
    return target
