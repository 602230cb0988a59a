"""``tessera dev build``: images, components, and the components' own tests."""

from __future__ import annotations

import click

from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.machine.container import build as builder
from tessera.machine.container import component_tests, image_packages
from tessera.machine.container.engine import NONE, container_engine_name
from tessera.machine.container.images import (
    ensure_images,
    ensure_vips_image,
    ensure_workloads_image,
    export_images,
    require_image,
)


def _say(text: str) -> None:
    click.echo(f"tessera dev build: {text}", err=True)


@click.command()
@click.argument("components", nargs=-1, metavar="[COMPONENT]... | --sif [IMAGE]...")
@click.option("--test", is_flag=True, help="Also build and run the components' tests (ctest).")
@click.option("--image", is_flag=True, help="Build only the base and toolchain images; print the tag.")
@click.option(
    "--workloads-image",
    is_flag=True,
    help="Build only the image of the workloads that come from Debian; print its tag.",
)
@click.option("--vips-image", is_flag=True, help="Build only the image of the workload vips; print its tag.")
@click.option(
    "--sif",
    is_flag=True,
    help="Only write images as files for engine apptainer: those named (toolchain, workloads, vips, "
    "programs, kernel) or all that are here; print their paths. Without apptainer they are tar files.",
)
@click.option(
    "--record-packages",
    is_flag=True,
    help="Only write docker/packages.csv anew (versions, checksums of Debian's files). Needs a network.",
)
def build(
    components: tuple[str, ...],
    test: bool,
    image: bool,
    workloads_image: bool,
    vips_image: bool,
    sif: bool,
    record_packages: bool,
) -> None:
    """Build components into build/<component>/: the COMPONENTs named, or all.

    Components: mosalloc, tracer, simulator, workloads, imitation. Engine docker (default): builds missing
    images first (about 3 min), then the components in the toolchain image. TESSERA_ENGINE=apptainer: uses the
    image's SIF file, see docs/howto/cluster.md; none: uses this machine's compilers. Exit status 1 if a build
    or a test fails; the other components are still built.

    Example: ./run tessera dev build simulator
    """
    if sif:
        for path in export_images(components, _say):
            click.echo(path)
        return
    for component in components:
        if component not in builder.COMPONENTS:
            raise unknown_name("component", component, builder.COMPONENTS)
    if record_packages:
        click.echo(image_packages.write_packages(require_image, _say))
        return
    only = image or workloads_image or vips_image
    if container_engine_name() != NONE:
        ensure = ensure_images
        if workloads_image or vips_image:
            ensure = ensure_workloads_image if workloads_image else ensure_vips_image
        tag = ensure(_say)
        if only:
            click.echo(tag)
    elif only:
        raise TesseraError("an image", "the engine is 'none', which uses no image", "leave out the option")
    if only:
        return
    chosen = components or builder.COMPONENTS
    broken = _build(chosen, test)
    if test:
        _test(chosen, broken)
    elif broken:
        raise _failed("build of", chosen, f"not built: {', '.join(broken)}", broken)


def _build(components: tuple[str, ...], test: bool) -> list[str]:
    """Build every component, also after one fails; print why. Returns the components that failed."""
    broken = []
    for component in components:
        try:
            builder.build_component(component, _say, tests=test)
        except TesseraError as error:
            _say(f"{component}: not built: {error}")
            broken.append(component)
    return broken


def _test(components: tuple[str, ...], broken: list[str]) -> None:
    """Run the tests of every component that was built; print failures and summaries."""
    failed = []
    with component_tests.huge_pages(_say):
        for component in components:
            if component in broken:  # its folder holds a build of older sources
                continue
            click.echo(f"== ctest: {component} (full log: build/{component}/ctest.log)")
            status, output = component_tests.run_tests(component)
            click.echo(output)
            if status != 0:
                failed.append(component)
    for component in components:
        said = f"{component}: not built" if component in broken else component_tests.ctest_summary(component)
        click.echo(f"== ctest: {said}")
    found = [f"not built: {', '.join(broken)}"] if broken else []
    found += [f"tests failed in: {', '.join(failed)}"] if failed else []
    if found:
        raise _failed("tests of", components, "; ".join(found), [*broken, *failed], "--test ")


def _failed(
    what: str, components: tuple[str, ...], found: str, names: list[str], option: str = ""
) -> TesseraError:
    remedy = f"read the output above, then run: ./run tessera dev build {option}{' '.join(names)}"
    return TesseraError(f"{what} {', '.join(components)}", found, remedy, exit_code=EXIT_FAILED)
