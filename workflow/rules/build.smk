"""Images and components. Docker is only ever called by tessera.machine.container, never from here."""

import os

ENGINE = os.environ.get("TESSERA_ENGINE", "docker")
COMPONENTS = ("mosalloc", "tracer", "simulator", "workloads")
#: what else a component is built from
ALSO = {
    "mosalloc": ("layout-format",),
    "simulator": ("tracer", "layout-format"),
    "tracer": ("mosalloc", "workloads"),
}


def sources(*components):
    """Source files of components (Markdown is not one)."""
    found = (p for c in components for p in Path("artifacts", c).rglob("*"))
    return sorted(str(p) for p in found if p.is_file() and p.suffix != ".md")


def images(wildcards=None):
    """The toolchain image, unless components are built on the host."""
    return [] if ENGINE == "none" else ["build/images.stamp"]


def component_stamps(*components):
    """Stamps that say: these components are built."""
    return [f"build/{component}.stamp" for component in components]


rule images:
    input: sorted(str(p) for p in Path("docker").rglob("*") if p.is_file()),
    output: touch("build/images.stamp"),
    log: "build/logs/images.log",
    message: "Building the toolchain image"
    threads: workflow.cores
    shell: "tessera build --image > {log} 2>&1"


rule workloads_image:
    input: images, "docker/workloads/Dockerfile",
    output: touch("build/workloads-image.stamp"),
    log: "build/logs/workloads-image.log",
    message: "Building the image of Debian's own programs"
    shell: "tessera build --workloads-image > {log} 2>&1"


rule component:
    input:
        images,
        lambda w: sources(w.component, *ALSO.get(w.component, ())),
    output: touch("build/{component}.stamp"),
    log: "build/logs/{component}.log",
    params: engine=ENGINE,
    message: "Building {wildcards.component}"
    threads: workflow.cores
    shell: "tessera build {wildcards.component} > {log} 2>&1"
