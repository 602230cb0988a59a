"""Images and components. Docker is only ever called by tessera.machine.container, never from here.

The name of a stamp has the digest of what is built from: new sources are another input of all that uses them. Stamps
count by their content, which is small enough for Snakemake to compare (profiles/default), not by their time."""

import os

from tessera.pipeline.digests import programs

ENGINE = os.environ.get("TESSERA_ENGINE", "docker")
COMPONENTS = ("mosalloc", "tracer", "simulator", "workloads")


def images(wildcards=None):
    """The toolchain image, unless components are built on the host."""
    return [] if ENGINE == "none" else [f"build/images-{content('docker/base', 'docker/toolchain')}.stamp"]


def workloads_image():
    """The image of Debian's own programs."""
    digest = content("docker/base", "docker/toolchain", "docker/workloads")
    return f"build/image-workloads-{digest}.stamp"


def component_stamps(*components):
    """Stamps that say: these components are built."""
    return [f"build/{component}-{programs(ENGINE, component)}.stamp" for component in components]


rule images:
    output: "build/images-{digest}.stamp",
    log: "build/logs/images-{digest}.log",
    message: "Building the toolchain image"
    threads: workflow.cores
    shell: "tessera build --image > {log} 2>&1 && echo {wildcards.digest} > {output}"


rule workloads_image:
    input: images,
    output: "build/image-workloads-{digest}.stamp",
    log: "build/logs/workloads-image-{digest}.log",
    message: "Building the image of Debian's own programs"
    shell: "tessera build --workloads-image > {log} 2>&1 && echo {wildcards.digest} > {output}"


rule component:
    input: images,
    output: "build/{component}-{digest}.stamp",
    log: "build/logs/{component}-{digest}.log",
    wildcard_constraints: component="|".join(COMPONENTS)
    message: "Building {wildcards.component}"
    threads: workflow.cores
    shell:  # a stamp of other sources does not outlive what was built from them
        "rm -f build/{wildcards.component}-*.stamp && tessera build {wildcards.component} > {log} 2>&1"
        " && echo {wildcards.digest} > {output}"
