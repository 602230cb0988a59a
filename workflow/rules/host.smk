"""This machine: real runs with real huge pages (hybrid cells), and the same layouts simulated.

The runs take every core, so that nothing else runs beside a measurement. Cells that were skipped for want of huge
pages are tried again by a start with --reserve (tessera.pipeline.retry); measured ones are kept without it."""

HOST = config["host"]
HOST_SIZE = config["workloads"][HOST["workload"]]["size"]


rule host_platform:
    input:
        component_stamps("simulator"),
        "config/platforms/host-template.yaml",
    output: f"{RESULTS}/platforms/host-sim.yaml",
    log: f"{RESULTS}/logs/host-platform.log",
    message: "Describing this machine as a simulated platform"
    shell: "tessera platform detect --out {output} 2> >(tee {log} >&2)"


rule host_layouts:
    input: f"{RESULTS}/layouts/{HOST['workload']}/host-sim/manifest.csv",
    output: f"{RESULTS}/host/layouts/manifest.csv",
    log: f"{RESULTS}/logs/host-layouts.log",
    params: names=",".join(HOST["layouts"]),
    message: "Selecting the layouts to run for real"
    shell:
        "tessera pipeline select --manifest {input} --names {params.names} --out {output} 2> >(tee {log} >&2)"


rule host_simulated:
    input:
        component_stamps("simulator"),
        info=f"{RESULTS}/traces/{HOST['workload']}/info.json",
        manifest=f"{RESULTS}/host/layouts/manifest.csv",
        platform=f"{RESULTS}/platforms/host-sim.yaml",
    output: f"{RESULTS}/host/simulated.csv",
    log: f"{RESULTS}/logs/host-simulated.log",
    benchmark: f"{RESULTS}/benchmarks/host-simulated.tsv"
    params: engine=config["engine"], sampling=config["sampling"], cache=f"{RESULTS}/cache",
    resources: mem_mb=2000
    message: "Simulating the host's layouts"
    shell:
        "tessera pipeline cells --info {input.info} --manifest {input.manifest} --platform {input.platform}"
        " --engine {params.engine} --sampling {params.sampling} --cache {params.cache}"
        " --threads {threads} --out {output} 2> >(tee {log} >&2)"


rule host_run:
    input:
        component_stamps("mosalloc", "workloads"),
        manifest=f"{RESULTS}/host/layouts/manifest.csv",
        simulated=f"{RESULTS}/host/simulated.csv",
    output: f"{RESULTS}/host/cells.csv",
    log: f"{RESULTS}/logs/host-run.log",
    benchmark: f"{RESULTS}/benchmarks/host-run.tsv"
    params:
        workload=HOST["workload"], size=HOST_SIZE, half_width=HOST["half_width"],
        repeats=HOST["max_repeats"], minutes=HOST["max_minutes"], seed=config["seed"],
    threads: workflow.cores
    message: "Running {params.workload} for real under each of the host's layouts"
    shell:
        "tessera pipeline host --workload {params.workload} --size {params.size}"
        " --manifest {input.manifest} --simulated {input.simulated} --half-width {params.half_width}"
        " --max-repeats {params.repeats} --max-minutes {params.minutes} --seed {params.seed} --out {output} 2> >(tee {log} >&2)"


rule host_allocator:
    input: component_stamps("mosalloc", "workloads"),
    output: f"{RESULTS}/host/allocator.csv",
    log: f"{RESULTS}/logs/host-allocator.log",
    benchmark: f"{RESULTS}/benchmarks/host-allocator.tsv"
    params: seconds=min(40, 10 * HOST["max_minutes"]), seed=config["seed"],
    threads: workflow.cores
    message: "Measuring what the allocator costs beside plain glibc"
    shell:
        "tessera mosalloc overhead --seconds {params.seconds} --seed {params.seed} --out {output} > {log} 2>&1"
