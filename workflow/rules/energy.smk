"""Energy of the cells with assumed constants, and hit rates of one trace by the size of L3 (docs/explain/energy.md)."""


rule energy:
    localrule: True  # works on tables
    input: TREE.cells,
    output: TREE.energy("energy"), TREE.energy("savings"),
    log: TREE.log("energy"),
    benchmark: TREE.benchmark("energy")
    params:
        out=lambda w, output: Path(output[0]).parent, code=study_code("energy"),
        files=content_digest("config/machines", "config/platforms"),
    message: "Computing the energy of all cells"
    shell: "tessera lab run energy cells={input} --out {params.out:q} > {log} 2>&1"


rule study_threads:
    input:
        component_stamps("simulator"),
        info=lambda w: window(w.workload, "threads"),
        platform=lambda w: platform_file(w.platform),
    output: TREE.threads_sweep("{workload}", "{platform}"),
    log: TREE.log("study-threads-{workload}-{platform}"),
    benchmark: TREE.benchmark("study-threads-{workload}-{platform}")
    params:
        words=catalogue.words(STUDIES.get("threads", {}), cache=TREE.cache), code=study_code("threads-sweep"),
        files=lambda w: platform_content(w.platform),
    priority: 15
    resources: mem_mb=1000
    message: "Simulating {wildcards.workload} on {wildcards.platform} with smaller L3"
    shell:
        "tessera lab run threads-sweep trace={input.info} platform={input.platform} {params.words} jobs={threads}"
        " --out {output} 2> >(tee {log} >&2)"
