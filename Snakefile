# Tessera's pipeline, link by link. `./run reproduce` runs config/default.yaml, `./run smoke` config/smoke.yaml.
#   build.smk    toolchain image; in it, allocator, tracer, simulator and workloads
#   trace.smk    one recorded trace per workload
#   layouts.smk  54 + 1gb layouts per workload and platform
#   cells.smk    simulated cells, one job per workload and platform, all layouts inside
#   host.smk     real runs under real layouts; this machine as a simulated platform
#   models.smk   every runtime model: fit, judge under every protocol, predict 1GB pages
#   studies.smk, energy.smk  sampling, ablations, a sweep over assumed values; energy of the cells
#   validation.smk  engines, closed forms, pointer chases and layouts on this machine, invariants
#   kernel.smk   a kernel with replicated page tables: build, test, tables; `snakemake kernel` runs all jobs
#   reference.smk  the papers' archived data, compared with the printed numbers
#   report.smk   bundles of real machines, claims, figures, notebooks, provenance, HTML report
#
# Reading this file changes nothing. `code` and `files` of a rule are digests of more that it depends on (docs/dev/pipeline.md).

from pathlib import Path
from snakemake.exceptions import WorkflowError
from tessera.core.configuration_files import CONFIGURATION, CONFIGURATION_TEXT
from tessera.core.errors import TesseraError
from tessera.cli.pipeline.digests import code, content_digest
from tessera.core.results.tree import MODEL_TABLES, REFERENCE_TABLES, ResultsTree

if not config:
    configfile: "config/default.yaml"

if workflow.is_main_process:  # jobs of a cluster start with a configuration that is valid
    try:
        for file in workflow.configfiles:
            CONFIGURATION_TEXT.read(Path(file))  # refuses what YAML does in silence, such as the last of two equal keys
        CONFIGURATION.check(config, "(of all files and --config)")  # its names stand in paths and in shell commands
    except TesseraError as error:
        raise WorkflowError(str(error)) from None

TREE = ResultsTree(f"results/{config['name']}")
WORKLOADS = list(config["workloads"])
PLATFORMS = config["platforms"]

wildcard_constraints:
    workload="[a-z0-9-]+",
    platform="[a-z0-9-]+",
    digest="[0-9a-f]{16}",
    notebook="[0-9][0-9]-[a-z0-9-]+",

include: "workflow/rules/build.smk"
include: "workflow/rules/trace.smk"
include: "workflow/rules/layouts.smk"
include: "workflow/rules/cells.smk"
include: "workflow/rules/host.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/studies.smk"
include: "workflow/rules/validation.smk"
include: "workflow/rules/kernel.smk"
include: "workflow/rules/reference.smk"
include: "workflow/rules/report.smk"

localrules: reproduce, smoke, kernel, kernel_smoke, kernel_bisect

onstart:  # only of runs with jobs; not of dry runs, listings, or jobs of a cluster
    from tessera.cli.pipeline import failures, job_log  # slow to import
    # Nodes of a cluster have their own memory, and their jobs outlive this process.
    failures.begin_run(TREE.root, left_out() if workflow.local_exec else (), config, local=workflow.local_exec)
    timeline = job_log.watch_jobs(TREE.timeline, workflow, logger)
    job_log.plan_steps(TREE, workflow, timeline.run, log)

rule reproduce:
    """The main job: run everything, then check the claims; the exit status is that of the check."""
    default_target: True
    input: TREE.report, dropped_files(),
    params: results=TREE.root,
    message: "Checking the claims"
    shell: "tessera report check --results {params.results:q}"

rule smoke:
    """All steps on tiny inputs: ./run smoke."""
    input: TREE.report, dropped_files(),
    params: results=TREE.root,
    message: "Checking the claims"
    shell: "tessera report check --results {params.results:q}"
