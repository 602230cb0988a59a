"""Record one trace per workload. info.json is the declared output. If a recording fails, info.json has the reason,
and the other workloads continue. trace.tst is in the same folder."""

import functools
import sys

from snakemake.exceptions import WorkflowError

from tessera.core.errors import TesseraError
from tessera.core.units import GB
from tessera.cli.pipeline import needs
from tessera.lab import catalogue
from tessera.machine.container.watchdog import idle_minutes
from tessera.machine.limits import total_memory_bytes
from tessera.record import workloads
from tessera.record.workloads import prepared
from tessera.record.workloads.kinds.debian import image_folder
from tessera.record.workloads.program_run import VIPS

#: Kinds of workloads whose programs come from Debian and have their own images.
INSTALLED_KINDS = ("debian", "server")
MB = 1 << 20

#: Memory of a cluster's job besides its work: Snakemake twice, and the step that checks what is free (docs/howto/cluster.md).
AROUND_MB = 1000

# Recordings run in parallel if their memory fits. One that needs more memory than this limit runs alone, and fails
# with a message if the machine, or the job or container that this is, has too little. A smaller limit given by
# --resources stays.
if "mem_mb" in workflow.global_resources:
    workflow.global_resources["mem_mb"] = min(
        workflow.global_resources["mem_mb"].value, int(0.9 * total_memory_bytes()) // MB
    )
if workflow.local_exec and workflow._cores is not None:
    workflow.global_resources["_cores"], fewer = needs.job_cores(workflow._cores)
    if fewer and workflow.is_main_process:
        print(fewer, file=sys.stderr)

try:
    idle_minutes()  # a wrong limit is an error now, not of each job
except TesseraError as error:
    raise WorkflowError(str(error)) from None

#: Prepared files that lie on the disk at once; traces and results need up to 12 GB beside them.
PREPARED_BYTES = 16 * GB
HOST = config["host"]
if HOST["workload"] not in WORKLOADS and "size" not in HOST:
    raise WorkflowError(f"host: {HOST['workload']} is not one of the workloads; name its size (host: size)")
RECORDED = list(dict.fromkeys([*WORKLOADS, HOST["workload"]]))  # the real runs' workload can have a size of its own


def label_of(name):
    """Label of the size of a workload in this configuration."""
    return config["workloads"][name]["size"] if name in config["workloads"] else HOST["size"]


@functools.cache  # asked for each job, and reads YAML
def size_of(name):
    """The size of a workload in this configuration."""
    return workloads.load_workload(name).size(label_of(name))


def job_mb(needed, attempt):
    """Memory to ask for, in MB of 2^20 bytes, of a job that needs so many bytes. On a cluster it is the job's limit."""
    around = 0 if workflow.local_exec else AROUND_MB
    return needed // MB * (attempt + 1) // 2 + around


def most_accesses(name):
    """Accesses at which a recording stops; None if there is no limit."""
    return config["workloads"].get(name, {}).get("max_accesses", config.get("max_accesses"))


def left_out():
    """Rows without a recording that there is too little memory or disk for."""
    rows = {name: (size_of(name), most_accesses(name)) for name in RECORDED if not TREE.info(name).is_file()}
    return needs.left_out(rows, Path("."))


@functools.cache
def installed(name):
    """Stamp of the image that has the workload's program of Debian; none if it is no such program."""
    workload = workloads.load_workload(name)
    if not images() or workload.kind not in INSTALLED_KINDS:
        return []
    return [vips_image() if image_folder(workload.executable) == VIPS else workloads_image()]


def workload_files(name):
    """Digest of the files that define a workload."""
    datasets = ["datasets/manifest.csv"] if size_of(name).datasets else []
    return content_digest(f"config/workloads/{name}.yaml", *datasets)


try:
    PREPARED = prepared.of(size_of(name) for name in RECORDED)
except TesseraError as error:
    raise WorkflowError(str(error)) from None
WAITS = needs.wait_for({name: one.bytes for name, one in PREPARED.items()}, PREPARED_BYTES)


def rows_of(file):
    """Workloads that load a prepared file."""
    return [name for name in RECORDED if (one := size_of(name).prepared) and one.file == file]


def dropped_files():
    """Removals of prepared files, which end a run."""
    return [TREE.prepared_dropped(file) for file in PREPARED]


rule prepare:
    input:
        component_stamps("workloads"),
        # not so many at once that they fill the disk
        lambda w: [ancient(TREE.prepared_dropped(file)) for file in WAITS[w.file]],
    output: TREE.prepared_outcome("{file}"),
    log: TREE.log("prepare-{file}"),
    benchmark: TREE.benchmark("prepare-{file}")
    wildcard_constraints: file="|".join(PREPARED) or "none"
    params:
        words=lambda w: catalogue.words(
            {}, workload=rows_of(w.file)[0], size=label_of(rows_of(w.file)[0]), file=TREE.prepared(w.file)
        ),
        recipe=lambda w: PREPARED[w.file].args,
        code=code("tessera.cli.pipeline.prepare"),
    priority: 50  # below recordings, so that files are removed before others are built
    threads: 1  # it has a thread for each processor, but what takes all cores waits until nothing else runs
    resources:
        mem_mb=lambda w, attempt: job_mb(needs.preparing_bytes(size_of(rows_of(w.file)[0])), attempt),
    message: "Building the prepared file {wildcards.file}"
    shell: "tessera dev step prepare {params.words} --out {output} 2> >(tee {log} >&2)"


rule drop:
    localrule: True  # seconds
    input: lambda w: [TREE.info(name) for name in rows_of(w.file)],
    output: TREE.prepared_dropped("{file}"),
    log: TREE.log("drop-{file}"),
    wildcard_constraints: file="|".join(PREPARED) or "none"
    params: path=lambda w: TREE.prepared(w.file), code=code("tessera.cli.pipeline.prepare"),
    priority: 60
    message: "Removing the prepared file {wildcards.file}"
    shell: "tessera dev step drop file={params.path:q} --out {output} 2> >(tee {log} >&2)"


rule trace:
    input:
        component_stamps("mosalloc", "tracer", "workloads"),
        lambda w: installed(w.workload),
        ancient("config/workloads/{workload}.yaml"),
        lambda w: TREE.prepared_outcome(size_of(w.workload).prepared.file) if size_of(w.workload).prepared else [],
    output: TREE.info("{workload}"),
    log: TREE.log("trace-{workload}"),
    benchmark: TREE.benchmark("trace-{workload}")
    params:
        size=lambda w: label_of(w.workload),
        words=lambda w: catalogue.words(
            {}, workload=w.workload, size=label_of(w.workload), max_accesses=most_accesses(w.workload)
        ),
        # a recording does not depend on layouts or platforms
        code=code("tessera.cli.pipeline.record", without=("tessera.core.layouts.", "tessera.core.platforms.")),
        files=lambda w: workload_files(w.workload),
    priority: 55  # all other jobs wait for traces, and large ones run one after another: they end late if they begin late
    resources: mem_mb=lambda w, attempt: job_mb(needs.memory_bytes(size_of(w.workload)), attempt)
    message: "Recording the trace of {wildcards.workload} ({params.size})"
    shell: "tessera dev step record {params.words} --out {output} 2> >(tee {log} >&2)"
