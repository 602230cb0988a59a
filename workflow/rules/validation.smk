"""Validation of the simulator: engines against each other, closed forms, chases and mosaics on this machine, invariants.

What measures takes every core, so that nothing else runs beside it. Without reserved pages the chases in 2MB pages are
skipped, and mosaics that were not run are not judged; both say so in their tables."""

AMOUNT = config.get("validation", "full")
THOROUGH = AMOUNT == "full"
#: The platform files that engines and formulas are compared on: all that are committed, or the configuration's.
COMPARED = sorted(Path("config/platforms").glob("*-sim.yaml")) if THOROUGH else [
    f"config/platforms/{name}.yaml" for name in PLATFORMS
]


rule validate_engines:
    input: component_stamps("simulator", "tracer"),
    output: TREE.validation("engines"),
    log: TREE.log("validate-engines"),
    benchmark: TREE.benchmark("validate-engines")
    params:
        words=catalogue.words({}, amount=AMOUNT, seed=config["seed"], platforms=None if THOROUGH else PLATFORMS),
        code=study_code("engines"),
        files=content_digest(*COMPARED),
    message: "Comparing the engines on random traces, layouts and platforms"
    shell: "tessera lab run engines {params.words} --out {output} 2> >(tee {log} >&2)"


rule validate_closed_forms:
    input: component_stamps("simulator", "tracer"),
    output: TREE.validation("closed_forms"),
    log: TREE.log("validate-closed-forms"),
    benchmark: TREE.benchmark("validate-closed-forms")
    params:
        words=catalogue.words({}, platforms=None if THOROUGH else PLATFORMS[0]), code=study_code("closed-forms"),
        files=content_digest(*COMPARED),
    message: "Comparing simulated counts with formulas"
    shell: "tessera lab run closed-forms {params.words} --out {output} 2> >(tee {log} >&2)"


rule chase:
    input: component_stamps("mosalloc", "workloads"),
    output: measured=TREE.validation("chase"), series=TREE.validation("chase_series"),
    log: TREE.log("chase"),
    benchmark: TREE.benchmark("chase")
    params:
        words=catalogue.words({}, amount=AMOUNT, seed=config["seed"]), code=study_code("chase"),
    threads: workflow.cores
    priority: 1900  # first, while nothing else runs
    message: "Measuring pointer chases on this machine"
    shell: "tessera lab run chase {params.words} --out {output.measured} 2> >(tee {log} >&2)"


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
        words=catalogue.words({}, amount=AMOUNT, seed=config["seed"]), out=TREE.all_validation,
        code=study_code("explain-chase"),
    priority: 15
    message: "Calibrating the platform file of this machine on the pointer chases"
    shell:
        "tessera lab run explain-chase chase={input.chase} platform={input.platform} calibrated={output.chased}"
        " {params.words} --out {params.out:q} 2> >(tee {log} >&2)"


rule clock_measure:
    input: component_stamps("mosalloc", "workloads"),
    output: TREE.validation("clock_measured"),
    log: TREE.log("clock-measure"),
    benchmark: TREE.benchmark("clock-measure")
    params:
        amount=AMOUNT, code=study_code("clock-measure"),
        files=content_digest("src/tessera/lab/clock/marks.csv", "src/tessera/lab/clock/programs.csv"),
    threads: workflow.cores
    priority: 1800  # soon after the chases, before anything else runs
    message: "Measuring micro-benchmarks and programs on this machine's clock"
    shell: "tessera lab run clock-measure amount={params.amount:q} --out {output} 2> >(tee {log} >&2)"


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
        amount=AMOUNT, out=TREE.all_validation, code=study_code("clock"),
        files=content_digest("src/tessera/lab/clock/marks.csv", "src/tessera/lab/clock/programs.csv"),
    priority: 15
    message: "Holding the simulated core against this machine's clock"
    shell:
        "tessera lab run clock platform={input.platform} measured={input.measured} calibrated={output.calibrated}"
        " amount={params.amount:q} --out {params.out:q} 2> >(tee {log} >&2)"


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
        words=cell_words(), code=code("tessera.cli.pipeline.simulation"),
    resources: mem_mb=600
    message: "Simulating the layouts of the real runs on the calibrated platform"
    shell:
        "tessera dev step cells trace={input.info} manifest={input.manifest} platform={input.platform}"
        " {params.words} --out {output} 2> >(tee {log} >&2)"


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
        simulated=lambda w, input: ",".join(input.simulated), code=study_code("mosaics"),
    message: "Comparing simulated differences between layouts with real runs"
    shell:
        "tessera lab run mosaics comparison={input.comparison} findings={input.findings}"
        " simulated={params.simulated:q} --out {output.mosaics} > {log} 2>&1"


rule invariants:
    localrule: True  # works on tables
    input: TREE.cells,
    output: TREE.validation("invariants"),
    log: TREE.log("invariants"),
    params:
        words=catalogue.words({}, results=TREE.root, changes=CHANGES), code=study_code("invariants"),
        files=content_digest(*(f"config/platforms/{name}.yaml" for name in PLATFORMS)),
    message: "Checking the rules that every cell must satisfy"
    shell: "tessera lab run invariants {params.words} --out {output} > {log} 2>&1"


rule recordings:
    localrule: True  # works on tables
    input: [TREE.info(name) for name in RECORDED],
    output: TREE.validation("recordings"),
    log: TREE.log("recordings"),
    params:
        words=catalogue.words({}, results=TREE.root), code=study_code("known-recordings"),
        files=content_digest("config/known-recordings.csv"),
    message: "Comparing the recordings with known ones"
    shell: "tessera lab run known-recordings {params.words} --out {output} > {log} 2>&1"


VALIDATION_TABLES = [
    TREE.validation(name)
    for name in ("engines", "closed_forms", "steps", "clock_marks", "mosaics", "invariants", "recordings")
]
