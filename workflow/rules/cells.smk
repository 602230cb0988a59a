"""Simulate cells: one job per workload and platform, with all layouts. Finished cells go to a cache outside the
declared outputs, so a killed run loses at most one group of layouts."""


def cell_words(changes=None):
    """Words of the configuration for a job that simulates layouts."""
    return catalogue.words({}, engine=config["engine"], sampling=config["sampling"], cache=TREE.cache, changes=changes)


rule cells:
    input:
        component_stamps("simulator"),
        info=TREE.info("{workload}"),
        manifest=TREE.manifest("{workload}", "{platform}"),
        platform=lambda w: platform_file(w.platform),
    output: TREE.cells_of("{workload}", "{platform}"),
    log: TREE.log("cells-{workload}-{platform}"),
    benchmark: TREE.benchmark("cells-{workload}-{platform}")
    params:
        words=cell_words(CHANGES), code=code("tessera.cli.pipeline.simulation"),
        files=lambda w: platform_content(w.platform),
    priority: 10
    resources: mem_mb=600
    message: "Simulating {wildcards.workload} on {wildcards.platform}"
    shell:
        "tessera dev step cells trace={input.info} manifest={input.manifest} platform={input.platform}"
        " {params.words} jobs={threads} --out {output} 2> >(tee {log} >&2)"


def cells_of_pairs():
    """Simulated cells of every workload on every platform."""
    return expand(TREE.cells_of("{workload}", "{platform}"), workload=WORKLOADS, platform=PLATFORMS)


rule all_cells:
    localrule: True  # works on tables
    input: cells_of_pairs(), TREE.host_simulated, TREE.host_cells,
    output: TREE.cells,
    log: TREE.log("all-cells"),
    params:
        words=lambda w, input: catalogue.repeated("cells", input), code=code("tessera.cli.pipeline.simulation"),
    message: "Joining all cells in one table"
    shell: "tessera dev step concat {params.words} --out {output} 2> {log}"
