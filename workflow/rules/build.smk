"""Build images and components. Only tessera.machine.container calls Docker, never a rule.

The name of a stamp has the digest of the sources: if they change, all jobs that use them get a new input. Snakemake
compares the content of stamps, which is small (profiles/default), not their time."""

import os

from tessera.cli.pipeline.job_log import show_counts
from tessera.cli.pipeline.digests import programs_digest

show_counts(workflow, logger)  # `./run reproduce -n --quiet` prints how many jobs each rule has

ENGINE = os.environ.get("TESSERA_ENGINE", "docker")
COMPONENTS = ("mosalloc", "tracer", "simulator", "workloads", "imitation")


def images(wildcards=None):
    """The toolchain image; none if this machine builds the components."""
    return [] if ENGINE == "none" else [f"build/images-{content_digest('docker/base', 'docker/toolchain')}.stamp"]


def workloads_image():
    """The image of the programs of Debian."""
    digest = content_digest("docker/base", "docker/toolchain", "docker/workloads")
    return f"build/image-workloads-{digest}.stamp"


def vips_image():
    """The image of the workload vips."""
    return f"build/image-vips-{content_digest('docker/base', 'docker/toolchain', 'docker/vips')}.stamp"


def component_stamps(*components):
    """Stamps of built components."""
    return [f"build/{component}-{programs_digest(ENGINE, component)}.stamp" for component in components]


rule images:
    output: "build/images-{digest}.stamp",
    log: "build/logs/images-{digest}.log",
    message: "Building the toolchain image"
    priority: 2000
    threads: workflow.cores
    shell: "tessera dev build --image > {log} 2>&1 && echo {wildcards.digest} > {output}"


rule workloads_image:
    input: images,
    output: "build/image-workloads-{digest}.stamp",
    log: "build/logs/workloads-image-{digest}.log",
    message: "Building the image of the programs of Debian"
    shell: "tessera dev build --workloads-image > {log} 2>&1 && echo {wildcards.digest} > {output}"


rule vips_image:
    input: images,
    output: "build/image-vips-{digest}.stamp",
    log: "build/logs/vips-image-{digest}.log",
    message: "Building the image of the workload vips"
    shell: "tessera dev build --vips-image > {log} 2>&1 && echo {wildcards.digest} > {output}"


rule component:
    input: images,
    output: "build/{component}-{digest}.stamp",
    log: "build/logs/{component}-{digest}.log",
    wildcard_constraints: component="|".join(COMPONENTS)
    message: "Building {wildcards.component}"
    priority: 2000  # takes all cores; above the sum of many jobs that take one, which the scheduler would choose instead
    threads: workflow.cores
    shell:  # a stamp of other sources does not outlive what was built from them
        "rm -f build/{wildcards.component}-*.stamp && tessera dev build {wildcards.component} > {log} 2>&1"
        " && echo {wildcards.digest} > {output}"
