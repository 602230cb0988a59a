"""Bundles of real machines, notebooks, provenance, and the HTML report with its claims and figures."""

from tessera.cli.pipeline.digests import bundle_sources

BUNDLES = bundle_sources()

EXPLORE = config["explore"]
NOTEBOOKS = sorted(path.stem for path in Path("notebooks").glob("*.ipynb"))
#: Files that people edit and the report shows.
SHOWN = (
    "report", "reference-results", "config/claims.yaml", "config/proof-reading.yaml", "config/claims-changes.md", "config/platforms", "config/machines",
    "config/workloads", "config/scenarios", "docs/results/os-oracle.md", "workflow/schemas/claims.schema.json", "requirements.in", *workflow.configfiles,
)  # fmt: skip


def may_have_failed():
    """All files that can record a failure (tessera.cli.pipeline.failures). They are inputs of the report, so that a
    dropped failure runs again."""
    return [
        *(TREE.info(workload) for workload in WORKLOADS),
        *cells_of_pairs(),
        TREE.host_simulated, TREE.host_cells, TREE.validation("host_calibrated"), TREE.validation("chase_series"),
        *study_outputs(), *study_windows(), *scenario_recordings(),
        *kernel_parts_here(),
    ]  # fmt: skip


rule machines:
    """Runs also without bundles: an empty list says that none took part."""
    localrule: True  # seconds
    output: TREE.machines.bundles_list,
    log: TREE.log("machines"),
    priority: 100  # a bundle that is refused ends the run before it simulates for hours
    params:
        words=catalogue.words({}, seed=config["seed"], orders=config.get("adaptive_orders", 10)),
        bundles=catalogue.repeated("bundle", BUNDLES),
        files=content_digest(*BUNDLES), code=code("tessera.cli.pipeline.bundles"),
    message: "Verifying bundles of real machines"
    shell: "tessera dev step machines {params.words} {params.bundles} --out {output} 2> >(tee {log} >&2)"


rule notebook:
    localrule: True  # works on tables
    input:
        rules.all_models.output,
        TREE.cells,
        rules.machines.output,
        ancient("notebooks/{notebook}.ipynb"),
    output: TREE.notebook("{notebook}"),
    log: TREE.log("notebook-{notebook}"),
    benchmark: TREE.benchmark("notebook-{notebook}")
    params:
        workload=EXPLORE["workload"], platform=EXPLORE["platform"], results=TREE.root,
        code=code("tessera.report.notebooks", "tessera.report.explore"),
        files=lambda w: content_digest(f"notebooks/{w.notebook}.ipynb", "notebooks/data", "report", "reference-results"),
    message: "Executing notebook {wildcards.notebook}"
    shell:
        "tessera dev notebooks run --results {params.results:q} --only {wildcards.notebook}"
        " --workload {params.workload:q} --platform {params.platform:q} > {log} 2>&1"


rule report:
    localrule: True  # works on tables
    input:
        rules.all_models.output,
        rules.reference.output,
        expand(rules.notebook.output, notebook=NOTEBOOKS),
        VALIDATION_TABLES,
        TREE.host_allocator,
        TREE.cells,
        rules.energy.output,
        rules.machines.output,
        may_have_failed(),
    output: TREE.report, TREE.claims,
    log: TREE.log("report"),
    benchmark: TREE.benchmark("report")
    params:
        results=TREE.root, files=content_digest(*SHOWN),
        code=code("tessera.report.site", "tessera.report.claims_table"),
    message: "Writing the report"
    shell: "tessera report render --results {params.results:q} > {log} 2>&1"
