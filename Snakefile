# Tessera's pipeline, link by link. `./run reproduce` (or `snakemake --cores all reproduce` in an
# activated environment) runs config/default.yaml; `./run smoke` runs config/smoke.yaml.
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

from pathlib import Path

from snakemake.utils import validate

from tessera.pipeline.alone import alone
from tessera.pipeline.retry import forget_failures

if not config:
    configfile: "config/default.yaml"

validate(config, "workflow/schemas/config.schema.json")

RESULTS = f"results/{config['name']}"
WORKLOADS = list(config["workloads"])
PLATFORMS = config["platforms"]
alone(Path(RESULTS))
forget_failures(Path(RESULTS))  # what failed last time is tried again

wildcard_constraints:
    workload="[a-z0-9-]+",
    platform="[a-z0-9-]+",
    component="[a-z]+",
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


rule reproduce:
    """The main job: everything, then the claims table; its exit status is the check's."""
    default_target: True
    input: f"{RESULTS}/report/index.html",
    message: "Checking the claims"
    shell: "tessera report check --results {RESULTS}"


rule smoke:
    """The same chain on tiny inputs: ./run smoke."""
    input: f"{RESULTS}/report/index.html",
    message: "Checking the claims"
    shell: "tessera report check --results {RESULTS}"
