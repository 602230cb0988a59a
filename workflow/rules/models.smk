"""Fit every model for every workload and platform, judge it under every protocol, and predict 1GB pages.

One job takes all workloads of a platform, because loading the libraries takes longer than fitting a pair. If a pair
cannot be fitted, its tables are empty, and a text file in their folder has the reason."""

from snakemake.exceptions import WorkflowError

from tessera.core.errors import TesseraError
from tessera.fit.models import registry
from tessera.core.results.tree import ADAPTIVE_TABLES, FIT_TABLES, ONE_GB_TABLES

try:
    MODELS = registry.select_models(config.get("models", ()))
except TesseraError as error:
    raise WorkflowError(f"models of the configuration: {error}") from None


def of_platform(tables):
    """These tables of every workload, with the platform as the wildcard."""
    return [TREE.models_of(workload, "{platform}", name) for name in tables for workload in WORKLOADS]


def cells_of_platform(wildcards):
    return [TREE.cells_of(workload, wildcards.platform) for workload in WORKLOADS]


rule fit:
    localrule: True  # works on tables
    input:
        cells=cells_of_platform,
        manifests=lambda w: [TREE.manifest(workload, w.platform) for workload in WORKLOADS],
    output:
        of_platform(FIT_TABLES),
        [TREE.intervals(workload, "{platform}") for workload in WORKLOADS],
    log: TREE.log("fit-{platform}"),
    benchmark: TREE.benchmark("fit-{platform}")
    params:
        words=lambda w, input: catalogue.words({}, seed=config["seed"], layouts=TREE.layouts, models=MODELS),
        cells=lambda w, input: catalogue.repeated("cells", input.cells),
        out=TREE.all_models, code=code("tessera.cli.pipeline.fit"),
    priority: 30  # notebooks and report wait for it
    message: "Fitting and judging all models on {wildcards.platform}"
    shell:
        "tessera dev step fit {params.words} {params.cells} --out {params.out:q} 2> >(tee {log} >&2)"


rule adaptive:
    localrule: True  # works on tables
    input: cells_of_platform,
    output: of_platform(ADAPTIVE_TABLES),
    log: TREE.log("adaptive-{platform}"),
    benchmark: TREE.benchmark("adaptive-{platform}")
    params:
        words=catalogue.words({}, seeds=config.get("adaptive_orders", 10)),
        cells=lambda w, input: catalogue.repeated("cells", input),
        out=TREE.all_models, code=code("tessera.cli.pipeline.fit"),
    priority: 30  # notebooks and report wait for it
    message: "Comparing adaptive and random orders of layouts on {wildcards.platform}"
    shell: "tessera dev step adaptive {params.words} {params.cells} --out {params.out:q} 2> >(tee {log} >&2)"


rule one_gb:
    localrule: True  # works on tables
    input: cells=cells_of_platform, mosaics=TREE.validation("mosaics"),
    output: of_platform(ONE_GB_TABLES),
    log: TREE.log("one-gb-{platform}"),
    benchmark: TREE.benchmark("one-gb-{platform}")
    params:
        cells=lambda w, input: catalogue.repeated("cells", input.cells),
        out=TREE.all_models, code=code("tessera.cli.pipeline.fit"),
    priority: 30  # notebooks and report wait for it
    message: "Predicting 1GB pages on {wildcards.platform}"
    shell:
        "tessera dev step one-gb mosaics={input.mosaics} {params.cells} --out {params.out:q} 2> >(tee {log} >&2)"


rule all_models:
    localrule: True  # works on tables
    input:
        [
            TREE.models_of(workload, platform, table)
            for table in MODEL_TABLES for workload in WORKLOADS for platform in PLATFORMS
        ],
    output: [TREE.models(table) for table in MODEL_TABLES],
    log: TREE.log("all-models"),
    params:
        out=TREE.all_models,
        folders=lambda w, input: sorted({str(Path(p).parent) for p in input}),
        code=code("tessera.fit.collected_fits"),
    priority: 30  # notebooks and report wait for it
    message: "Joining the tables of all models"
    shell: "tessera models collect --out {params.out:q} {params.folders:q} > {log} 2>&1"
