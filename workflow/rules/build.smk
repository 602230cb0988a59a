"""Images and components. Docker is only ever called by tessera.machine.container, never from here.

What is built has no time that counts: who uses a component has its stamp as an input that may be of any age, and the
digest of its sources among the params."""

import os

from tessera.pipeline.digests import programs

ENGINE = os.environ.get("TESSERA_ENGINE", "docker")
COMPONENTS = ("mosalloc", "tracer", "simulator", "workloads")


def images(wildcards=None):
    """The toolchain image, unless components are built on the host."""
    return [] if ENGINE == "none" else [ancient("build/images.stamp")]


def component_stamps(*components):
    """Stamps that say: these components are built."""
    return [ancient(f"build/{component}.stamp") for component in components]


def built_from(*components):
    """Digest of what these components are built from, and by which engine."""
    return programs(ENGINE, *components)


rule images:
    output: touch("build/images.stamp"),
    log: "build/logs/images.log",
    params: files=content("docker/base", "docker/toolchain"),
    message: "Building the toolchain image"
    threads: workflow.cores
    shell: "tessera build --image > {log} 2>&1"


rule workloads_image:
    input: images,
    output: touch("build/workloads-image.stamp"),
    log: "build/logs/workloads-image.log",
    params: files=content("docker"),
    message: "Building the image of Debian's own programs"
    shell: "tessera build --workloads-image > {log} 2>&1"


rule component:
    input: images,
    output: touch("build/{component}.stamp"),
    log: "build/logs/{component}.log",
    params: engine=ENGINE, programs=lambda w: built_from(w.component),
    message: "Building {wildcards.component}"
    threads: workflow.cores
    shell: "tessera build {wildcards.component} > {log} 2>&1"
