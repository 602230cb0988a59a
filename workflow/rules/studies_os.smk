"""Studies of recordings from the first instruction, under scenarios of an operating system (docs/os.md, docs/faults.md)."""

from tessera.core.results import os_tables


def whole_sizes():
    """Workloads that are recorded from the first instruction -> their size. Two studies share a recording."""
    found = {}
    for asked in (STUDIES.get(name, {}).get("workloads", {}) for name in ("scenarios", "virtuoso")):
        for workload, about in asked.items():
            if found.setdefault(workload, about["size"]) != about["size"]:
                raise WorkflowError(f"studies ask for {workload} in the sizes {found[workload]} and {about['size']}")
    return found


WHOLE_SIZES = whole_sizes()


def scenario_recordings():
    """Recordings from the first instruction."""
    return [TREE.scenario_recording(w) for w in WHOLE_SIZES]


def scenarios_of(workload):
    """Scenarios of one workload: those of all, then its own."""
    asked = STUDIES["scenarios"]
    return [*asked["scenarios"], *asked["workloads"][workload].get("also", [])]


rule study_recording:
    """A recording from the first instruction; those of the cells begin when most memory is mapped."""
    input:
        component_stamps("mosalloc", "tracer", "workloads"),
        lambda w: installed(w.workload),
        ancient("config/workloads/{workload}.yaml"),
    output: TREE.scenario_recording("{workload}"),
    log: TREE.log("study-recording-{workload}"),
    benchmark: TREE.benchmark("study-recording-{workload}")
    params:
        size=lambda w: WHOLE_SIZES[w.workload],
        code=code("tessera.lab.studies.scenario_recording", without=("tessera.core.layouts.", "tessera.core.platforms.")),
        files=lambda w: content(f"config/workloads/{w.workload}.yaml"),
    priority: 20
    resources: mem_mb=1000
    message: "Recording {wildcards.workload} ({params.size}) from its first instruction"
    shell:
        "tessera study recording --workload {wildcards.workload} --size {params.size} --out {output} > {log} 2>&1"


rule study_scenarios:
    input:
        component_stamps("imitation", "simulator", "tracer"),
        info=TREE.scenario_recording("{workload}"),
        platform=lambda w: platform_file(STUDIES["scenarios"]["platform"]),
    output: [TREE.scenarios("{workload}", Path(table.file).stem) for table in os_tables.SCENARIO_TABLES],
    log: TREE.log("study-scenarios-{workload}"),
    benchmark: TREE.benchmark("study-scenarios-{workload}")
    params:
        scenarios=lambda w: ",".join(scenarios_of(w.workload)),
        sampling=STUDIES.get("scenarios", {}).get("sampling", ""),
        cache=TREE.cache, code=code("tessera.lab.studies.scenarios", "tessera.core.tables"),
        files=lambda w: [
            platform_content(STUDIES["scenarios"]["platform"]),
            content(*(f"config/scenarios/{name}.yaml" for name in scenarios_of(w.workload))),
        ],
        out=lambda w, output: Path(output[0]).parent,
    priority: 15
    resources: mem_mb=1000
    message: "Running {wildcards.workload} under scenarios of an operating system"
    shell:
        "tessera study scenarios --trace {input.info} --platform {input.platform} --scenarios {params.scenarios}"
        " --sampling {params.sampling} --threads {threads} --cache {params.cache} --out {params.out}"
        " 2> >(tee {log} >&2)"


rule study_virtuoso:
    input:
        component_stamps("imitation", "simulator", "tracer"),
        info=TREE.scenario_recording("{workload}"),
        platform=lambda w: platform_file(STUDIES["virtuoso"]["platform"]),
    output: [TREE.virtuoso("{workload}", Path(table.file).stem) for table in os_tables.OF_PROGRAM],
    log: TREE.log("study-virtuoso-{workload}"),
    benchmark: TREE.benchmark("study-virtuoso-{workload}")
    params:
        scenarios=",".join(STUDIES.get("virtuoso", {}).get("scenarios", [])),
        sampling=STUDIES.get("virtuoso", {}).get("sampling", ""), faults="artifacts/kernel-stream/recording",
        cache=TREE.cache, code=code("tessera.lab.faults.virtuoso", "tessera.core.tables"),
        files=lambda w: [
            platform_content(STUDIES["virtuoso"]["platform"]), content("artifacts/kernel-stream/recording"),
            content(*(f"config/scenarios/{name}.yaml" for name in STUDIES["virtuoso"]["scenarios"])),
        ],
        out=lambda w, output: Path(output[0]).parent,
    priority: 15
    resources: mem_mb=1500
    message: "Simulating page faults of {wildcards.workload}"
    shell:
        "tessera virtuoso program --trace {input.info} --platform {input.platform} --scenarios {params.scenarios}"
        " --weave {params.faults} --sampling {params.sampling} --threads {threads} --cache {params.cache}"
        " --out {params.out} 2> >(tee {log} >&2)"
