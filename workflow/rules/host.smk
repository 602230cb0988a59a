"""This machine: real runs with real huge pages (hybrid cells), and the same layouts simulated.

The runs take every core, so that no other job disturbs a measurement. A run with --reserve drops cells that were
skipped without huge pages (tessera.cli.pipeline.failures); a run without --reserve keeps measured cells."""


rule host_platform:
    input: component_stamps("simulator"), ancient("config/platforms/host-template.yaml"),
    output: TREE.platform("host-sim"),
    log: TREE.log("host-platform"),
    params:
        code=code("tessera.simulate.platform_files"),
        files=content_digest("config/platforms/host-template.yaml"),
    message: "Writing a platform file for this machine"
    shell: "tessera platform detect --out {output} 2> >(tee {log} >&2)"


rule host_layouts:
    localrule: True  # seconds
    input: TREE.manifest(HOST["workload"], "host-sim"),
    output: TREE.host_manifest,
    log: TREE.log("host-layouts"),
    params: words=catalogue.words({}, names=HOST["layouts"]), code=code("tessera.cli.pipeline.simulation"),
    message: "Selecting the layouts for real runs"
    shell: "tessera dev step select manifest={input} {params.words} --out {output} 2> >(tee {log} >&2)"


rule host_simulated:
    input:
        component_stamps("simulator"),
        info=TREE.info(HOST["workload"]),
        manifest=TREE.host_manifest,
        platform=TREE.platform("host-sim"),
    output: TREE.host_simulated,
    log: TREE.log("host-simulated"),
    benchmark: TREE.benchmark("host-simulated")
    params:
        words=cell_words(CHANGES), code=code("tessera.cli.pipeline.simulation"),
    resources: mem_mb=600
    message: "Simulating the layouts of the real runs"
    shell:
        "tessera dev step cells trace={input.info} manifest={input.manifest} platform={input.platform}"
        " {params.words} jobs={threads} --out {output} 2> >(tee {log} >&2)"


rule host_run:
    input:
        component_stamps("mosalloc", "workloads"),
        manifest=TREE.host_manifest,
        simulated=TREE.host_simulated,
    output: cells=TREE.host_cells, comparison=TREE.host_comparison,  # runs.csv beside them goes on where it was
    log: TREE.log("host-run"),
    benchmark: TREE.benchmark("host-run")
    params:
        workload=HOST["workload"],
        words=catalogue.words(
            {key: HOST[key] for key in ("half_width", "max_repeats", "max_minutes")},
            workload=HOST["workload"], size=label_of(HOST["workload"]), seed=config["seed"],
        ),
        code=code("tessera.cli.pipeline.real_runs"),
        files=workload_files(HOST["workload"]),
    threads: workflow.cores
    message: "Running {params.workload} on this machine under each selected layout"
    shell:
        "tessera dev step host manifest={input.manifest} simulated={input.simulated} {params.words}"
        " --out {output.cells} 2> >(tee {log} >&2)"


rule host_allocator:
    input: component_stamps("mosalloc", "workloads"),
    output: TREE.host_allocator,
    log: TREE.log("host-allocator"),
    benchmark: TREE.benchmark("host-allocator")
    params:
        seconds=min(40, 10 * HOST["max_minutes"]), seed=config["seed"],
        code=code("tessera.cli.lab.allocator"),
    threads: workflow.cores
    message: "Measuring memory and time of the allocator and of plain glibc"
    shell:
        "tessera lab allocator overhead --seconds {params.seconds:q} --seed {params.seed:q} --out {output} > {log} 2>&1"
