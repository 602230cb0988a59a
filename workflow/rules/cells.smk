"""Simulated cells: one job per workload and platform, all layouts inside. Finished cells go to a cache
outside the declared outputs, so a killed run loses at most one group of layouts."""


rule cells:
    input:
        component_stamps("simulator"),
        info=f"{RESULTS}/traces/{{workload}}/info.json",
        manifest=f"{RESULTS}/layouts/{{workload}}/{{platform}}/manifest.csv",
        platform=lambda w: platform_file(w.platform),
    output: f"{RESULTS}/cells/{{workload}}/{{platform}}.csv",
    log: f"{RESULTS}/logs/cells-{{workload}}-{{platform}}.log",
    benchmark: f"{RESULTS}/benchmarks/cells-{{workload}}-{{platform}}.tsv"
    params: engine=config["engine"], sampling=config["sampling"], cache=f"{RESULTS}/cache",
    priority: 10
    resources: mem_mb=2000
    message: "Simulating {wildcards.workload} on {wildcards.platform}"
    shell:
        "tessera pipeline cells --info {input.info} --manifest {input.manifest} --platform {input.platform}"
        " --engine {params.engine} --sampling {params.sampling} --cache {params.cache}"
        " --threads {threads} --out {output} 2> >(tee {log} >&2)"


rule all_cells:
    input:
        expand(f"{RESULTS}/cells/{{workload}}/{{platform}}.csv", workload=WORKLOADS, platform=PLATFORMS),
        f"{RESULTS}/host/simulated.csv",
        f"{RESULTS}/host/cells.csv",
    output: f"{RESULTS}/cells.csv",
    log: f"{RESULTS}/logs/all-cells.log",
    message: "Collecting all cells"
    shell: "tessera pipeline concat --out {output} {input} 2> {log}"
