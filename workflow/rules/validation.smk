"""Validation of the simulator: engines against each other, closed forms, chases and mosaics on this machine, invariants.

What measures takes every core, so that nothing else runs beside it. Without reserved pages the chases in 2MB pages are
skipped, and mosaics that were not run are not judged; both say so in their tables."""

VALIDATION = f"{RESULTS}/validation"
AMOUNT = config.get("validation", "full")
THOROUGH = AMOUNT == "full"


rule validate_engines:
    input: component_stamps("simulator", "tracer"), expand("config/platforms/{p}.yaml", p=PLATFORMS),
    output: f"{VALIDATION}/engines.csv",
    log: f"{RESULTS}/logs/validate-engines.log",
    benchmark: f"{RESULTS}/benchmarks/validate-engines.tsv"
    params:
        amount=AMOUNT, seed=config["seed"],
        platforms="" if THOROUGH else " ".join(f"--platform {p}" for p in PLATFORMS),
    message: "Comparing the engines on random traces, layouts and platforms"
    shell:
        "tessera validate engines --amount {params.amount} --seed {params.seed} {params.platforms}"
        " --out {output} 2> >(tee {log} >&2)"


rule validate_closed_forms:
    input: component_stamps("simulator", "tracer"), expand("config/platforms/{p}.yaml", p=PLATFORMS),
    output: f"{VALIDATION}/closed_forms.csv",
    log: f"{RESULTS}/logs/validate-closed-forms.log",
    benchmark: f"{RESULTS}/benchmarks/validate-closed-forms.tsv"
    params: platforms="" if THOROUGH else f"--platform {PLATFORMS[0]}",
    message: "Comparing simulated counts with closed forms"
    shell: "tessera validate closed-forms {params.platforms} --out {output} 2> >(tee {log} >&2)"


rule chase:
    input: component_stamps("mosalloc", "workloads"),
    output: f"{VALIDATION}/chase.csv", f"{VALIDATION}/chase_series.csv",
    log: f"{RESULTS}/logs/chase.log",
    benchmark: f"{RESULTS}/benchmarks/chase.tsv"
    params: scale=AMOUNT, seed=config["seed"],
    threads: workflow.cores
    priority: 50  # first, while nothing else runs
    message: "Chasing pointers on this machine"
    shell:
        "tessera validate chase --scale {params.scale} --seed {params.seed} --out {output[0]} 2> >(tee {log} >&2)"


rule explain_chase:
    input:
        component_stamps("simulator", "tracer"),
        chase=f"{VALIDATION}/chase.csv",
        platform=f"{RESULTS}/platforms/host-sim.yaml",
    output:
        multiext(f"{VALIDATION}/", "steps.csv", "findings.csv", "chase_latency.csv", "calibration.csv"),
        calibrated=f"{RESULTS}/host/host-calibrated.yaml",
    log: f"{RESULTS}/logs/explain-chase.log",
    benchmark: f"{RESULTS}/benchmarks/explain-chase.tsv"
    params: scale=AMOUNT, seed=config["seed"], out=VALIDATION,
    priority: 15
    message: "Finding the chase's steps, calibrating this machine's platform on them"
    shell:
        "tessera validate explain --chase {input.chase} --platform {input.platform} --scale {params.scale}"
        " --seed {params.seed} --out {params.out} --calibrated {output.calibrated} 2> >(tee {log} >&2)"


rule calibrated_cells:
    input:
        component_stamps("simulator"),
        info=f"{RESULTS}/traces/{HOST['workload']}/info.json",
        manifest=f"{RESULTS}/host/layouts/manifest.csv",
        platform=f"{RESULTS}/host/host-calibrated.yaml",
    output: f"{VALIDATION}/host_calibrated.csv",
    log: f"{RESULTS}/logs/calibrated-cells.log",
    benchmark: f"{RESULTS}/benchmarks/calibrated-cells.tsv"
    params: engine=config["engine"], sampling=config["sampling"], cache=f"{RESULTS}/cache",
    resources: mem_mb=2000
    message: "Simulating the host's layouts on the calibrated platform"
    shell:
        "tessera pipeline cells --info {input.info} --manifest {input.manifest} --platform {input.platform}"
        " --engine {params.engine} --sampling {params.sampling} --cache {params.cache}"
        " --out {output} 2> >(tee {log} >&2)"


rule judge_mosaics:
    input:
        f"{RESULTS}/host/cells.csv",
        findings=f"{VALIDATION}/findings.csv",
        simulated=[f"{RESULTS}/host/simulated.csv", f"{VALIDATION}/host_calibrated.csv"],
    output: f"{VALIDATION}/mosaics.csv", f"{VALIDATION}/mosaics_summary.csv",
    log: f"{RESULTS}/logs/judge-mosaics.log",
    params:
        host=f"{RESULTS}/host",
        simulated=lambda w, input: " ".join(f"--simulated {path}" for path in input.simulated),
    message: "Judging simulated differences by real runs"
    shell:
        "tessera validate mosaics --comparison {params.host}/comparison.csv --runs {params.host}/runs.csv"
        " --findings {input.findings} {params.simulated} --out {output[0]} > {log} 2>&1"


rule invariants:
    input: f"{RESULTS}/cells.csv",
    output: f"{VALIDATION}/invariants.csv",
    log: f"{RESULTS}/logs/invariants.log",
    params: results=RESULTS,
    message: "Checking what must hold for every cell"
    shell: "tessera validate invariants --results {params.results} --out {output} > {log} 2>&1"


VALIDATION_TABLES = [
    f"{VALIDATION}/{name}.csv" for name in ("engines", "closed_forms", "steps", "mosaics", "invariants")
]
