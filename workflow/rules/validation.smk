"""Validation of the simulator: engines against each other, closed forms, chases and mosaics on this machine, invariants.

What measures takes every core, so that nothing else runs beside it. Without reserved pages the chases in 2MB pages are
skipped, and mosaics that were not run are not judged; both say so in their tables."""

AMOUNT = config.get("validation", "full")
THOROUGH = AMOUNT == "full"
#: The platforms that engines and formulas are compared on: all that are committed, or the configuration's.
COMPARED = sorted(Path("config/platforms").glob("*-sim.yaml")) if THOROUGH else [
    f"config/platforms/{name}.yaml" for name in PLATFORMS
]


rule validate_engines:
    input: component_stamps("simulator", "tracer"),
    output: TREE.validation("engines"),
    log: TREE.log("validate-engines"),
    benchmark: TREE.benchmark("validate-engines")
    params:
        amount=AMOUNT, seed=config["seed"],
        platforms="" if THOROUGH else " ".join(f"--platform {p}" for p in PLATFORMS),
        code=code("tessera.lab.validation.engines"),
        files=content(*COMPARED),
    message: "Comparing the engines on random traces, layouts and platforms"
    shell:
        "tessera validate engines --amount {params.amount} --seed {params.seed} {params.platforms}"
        " --out {output} 2> >(tee {log} >&2)"


rule validate_closed_forms:
    input: component_stamps("simulator", "tracer"),
    output: TREE.validation("closed_forms"),
    log: TREE.log("validate-closed-forms"),
    benchmark: TREE.benchmark("validate-closed-forms")
    params:
        platforms="" if THOROUGH else f"--platform {PLATFORMS[0]}",
        code=code("tessera.lab.validation.closed_forms"),
        files=content(*COMPARED),
    message: "Comparing simulated counts with formulas"
    shell: "tessera validate closed-forms {params.platforms} --out {output} 2> >(tee {log} >&2)"


rule chase:
    input: component_stamps("mosalloc", "workloads"),
    output: measured=TREE.validation("chase"), series=TREE.validation("chase_series"),
    log: TREE.log("chase"),
    benchmark: TREE.benchmark("chase")
    params:
        scale=AMOUNT, seed=config["seed"],
        code=code("tessera.lab.chase.measured"),
    threads: workflow.cores
    priority: 1900  # first, while nothing else runs
    message: "Measuring pointer chases on this machine"
    shell:
        "tessera validate chase --scale {params.scale} --seed {params.seed} --out {output.measured}"
        " 2> >(tee {log} >&2)"


rule explain_chase:
    input:
        component_stamps("simulator", "tracer"),
        chase=TREE.validation("chase"),
        series=TREE.validation("chase_series"),
        platform=TREE.platform("host-sim"),
    output:
        [TREE.validation(name) for name in ("steps", "findings", "chase_latency", "calibration")],
        chased=TREE.host_chased,
    log: TREE.log("explain-chase"),
    benchmark: TREE.benchmark("explain-chase")
    params:
        scale=AMOUNT, seed=config["seed"], out=TREE.all_validation,
        code=code("tessera.lab.chase.explain"),
    priority: 15
    message: "Calibrating the platform file of this machine on the pointer chases"
    shell:
        "tessera validate explain --chase {input.chase} --platform {input.platform} --scale {params.scale}"
        " --seed {params.seed} --out {params.out} --calibrated {output.chased} 2> >(tee {log} >&2)"


rule clock_measure:
    input: component_stamps("mosalloc", "workloads"),
    output: TREE.validation("clock_measured"),
    log: TREE.log("clock-measure"),
    benchmark: TREE.benchmark("clock-measure")
    params:
        scale="default" if THOROUGH else "smoke",
        code=code("tessera.lab.clock.measured"),
        files=content("src/tessera/lab/clock/marks.csv", "src/tessera/lab/clock/programs.csv"),
    threads: workflow.cores
    priority: 1800  # soon after the chases, before anything else runs
    message: "Measuring micro-benchmarks and programs on this machine's clock"
    shell: "tessera validate clock-measure --scale {params.scale} --out {output} 2> >(tee {log} >&2)"


rule clock:
    input:
        component_stamps("workloads", "tracer", "simulator"),
        platform=TREE.host_chased,
        measured=TREE.validation("clock_measured"),
    output:
        [TREE.validation(name) for name in ("clock_marks", "clock_programs", "clock_keys")],
        calibrated=TREE.host_calibrated,
    log: TREE.log("clock"),
    benchmark: TREE.benchmark("clock")
    params:
        scale="default" if THOROUGH else "smoke", out=TREE.all_validation,
        code=code("tessera.lab.clock.simulated"),
        files=content("src/tessera/lab/clock/marks.csv", "src/tessera/lab/clock/programs.csv"),
    priority: 15
    message: "Holding the simulated core against this machine's clock"
    shell:
        "tessera validate clock --platform {input.platform} --scale {params.scale} --measured {input.measured}"
        " --out {params.out} --calibrated {output.calibrated} 2> >(tee {log} >&2)"


rule calibrated_cells:
    input:
        component_stamps("simulator"),
        info=TREE.info(HOST["workload"]),
        manifest=TREE.host_manifest,
        platform=TREE.host_calibrated,
    output: TREE.validation("host_calibrated"),
    log: TREE.log("calibrated-cells"),
    benchmark: TREE.benchmark("calibrated-cells")
    params:
        engine=config["engine"], sampling=config["sampling"], cache=TREE.cache,
        code=code("tessera.cli.pipeline.simulation"),
    resources: mem_mb=600
    message: "Simulating the layouts of the real runs on the calibrated platform"
    shell:
        "tessera pipeline cells --info {input.info} --manifest {input.manifest} --platform {input.platform}"
        " --engine {params.engine} --sampling {params.sampling} --cache {params.cache}"
        " --out {output} 2> >(tee {log} >&2)"


rule judge_mosaics:
    localrule: True  # works on tables
    input:
        TREE.host_cells,
        comparison=TREE.host_comparison,
        findings=TREE.validation("findings"),
        simulated=[TREE.host_simulated, TREE.validation("host_calibrated")],
    output: mosaics=TREE.validation("mosaics"), summary=TREE.validation("mosaics_summary"),
    log: TREE.log("judge-mosaics"),
    params:
        runs=TREE.host_runs, code=code("tessera.lab.validation.mosaics"),
        simulated=lambda w, input: " ".join(f"--simulated {path}" for path in input.simulated),
    message: "Comparing simulated differences between layouts with real runs"
    shell:
        "tessera validate mosaics --comparison {input.comparison} --runs {params.runs}"
        " --findings {input.findings} {params.simulated} --out {output.mosaics} > {log} 2>&1"


rule invariants:
    localrule: True  # works on tables
    input: TREE.cells,
    output: TREE.validation("invariants"),
    log: TREE.log("invariants"),
    params:
        results=TREE.root, changes=CHANGES, code=code("tessera.lab.validation.invariants"),
        files=content(*(f"config/platforms/{name}.yaml" for name in PLATFORMS)),
    message: "Checking the rules that every cell must satisfy"
    shell:
        "tessera validate invariants --results {params.results} {params.changes} --out {output} > {log} 2>&1"


VALIDATION_TABLES = [
    TREE.validation(name) for name in ("engines", "closed_forms", "steps", "clock_marks", "mosaics", "invariants")
]
