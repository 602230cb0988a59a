# Tessera's pipeline, link by link. `./run reproduce` runs config/default.yaml, `./run smoke` config/smoke.yaml.
#
#   build.smk    toolchain image; allocator, tracer, simulator and workloads inside it
#   trace.smk    one recorded trace per workload
#   layouts.smk  54 + 1gb layouts per workload and platform
#   cells.smk    simulated cells, one job per workload and platform, all layouts inside
#   host.smk     real runs under real mosaics; this machine as a simulated platform
#   models.smk   every runtime model, fitted, judged under every protocol, tried on 1GB pages
#   studies.smk  sampling, ablations, and a sweep over what is assumed
#   validation.smk  engines, closed forms, this machine's chase and mosaics, invariants
#   kernel.smk   a kernel with replicated page tables: build, test, tables; `snakemake kernel` makes more of it
#   reference.smk  the papers' archived data beside what they print
#   report.smk   claims, figures, notebooks, provenance, site
#
# Reading this file changes nothing. A rule's params `code` and `files` are digests of what its outputs depend on
# besides its inputs (docs/pipeline.md).

from pathlib import Path

from snakemake.utils import validate

from tessera.pipeline.digests import code, content
from tessera.pipeline.start import begin
from tessera.pipeline.timeline import watch
from tessera.results.tree import MODEL_TABLES, REFERENCE_TABLES, Tree

if not config:
    configfile: "config/default.yaml"

validate(config, "workflow/schemas/config.schema.json")

TREE = Tree(f"results/{config['name']}")
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

onstart:  # of a run that makes something; not of dry runs, listings, or a cluster's jobs
    begin(TREE.root)
    watch(TREE.timeline, workflow)

rule reproduce:
    """The main job: everything, then the claims table; its exit status is the check's."""
    default_target: True
    input: TREE.report,
    message: "Checking the claims"
    shell: f"tessera report check --results {TREE.root}"

rule smoke:
    """The same chain on tiny inputs: ./run smoke."""
    input: TREE.report,
    message: "Checking the claims"
    shell: f"tessera report check --results {TREE.root}"
