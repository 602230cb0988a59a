"""Studies of recordings from the first instruction, under scenarios of an operating system (docs/explain/os.md, docs/explain/faults.md)."""

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
        code=study_code("recording", without=("tessera.core.layouts.", "tessera.core.platforms.")),
        files=lambda w: content_digest(f"config/workloads/{w.workload}.yaml"),
    priority: 20
    resources: mem_mb=1000
    message: "Recording {wildcards.workload} ({params.size}) from its first instruction"
    shell:
        "tessera lab run recording workload={wildcards.workload} size={params.size:q} --out {output} > {log} 2>&1"


rule study_scenarios:
    input:
        component_stamps("imitation", "simulator", "tracer"),
        info=TREE.scenario_recording("{workload}"),
        platform=lambda w: platform_file(STUDIES["scenarios"]["platform"]),
    output: [TREE.scenarios("{workload}", Path(table.file).stem) for table in os_tables.SCENARIO_TABLES],
    log: TREE.log("study-scenarios-{workload}"),
    benchmark: TREE.benchmark("study-scenarios-{workload}")
    params:
        words=lambda w: catalogue.words(
            STUDIES["scenarios"], scenarios=scenarios_of(w.workload), cache=TREE.cache
        ),
        code=study_code("scenarios"),
        files=lambda w: [
            platform_content(STUDIES["scenarios"]["platform"]),
            content_digest(*(f"config/scenarios/{name}.yaml" for name in scenarios_of(w.workload))),
        ],
    priority: 15
    resources: mem_mb=1000
    message: "Running {wildcards.workload} under scenarios of an operating system"
    shell:
        "tessera lab run scenarios trace={input.info} platform={input.platform} {params.words} jobs={threads}"
        " --out {output[0]} 2> >(tee {log} >&2)"


rule study_virtuoso:
    input:
        component_stamps("imitation", "simulator", "tracer"),
        info=TREE.scenario_recording("{workload}"),
        platform=lambda w: platform_file(STUDIES["virtuoso"]["platform"]),
    output: [TREE.virtuoso("{workload}", Path(table.file).stem) for table in os_tables.OF_PROGRAM],
    log: TREE.log("study-virtuoso-{workload}"),
    benchmark: TREE.benchmark("study-virtuoso-{workload}")
    params:
        words=catalogue.words(STUDIES.get("virtuoso", {}), cache=TREE.cache), code=study_code("virtuoso"),
        files=lambda w: [
            platform_content(STUDIES["virtuoso"]["platform"]), content_digest("artifacts/kernel-stream/recording"),
            content_digest(*(f"config/scenarios/{name}.yaml" for name in STUDIES["virtuoso"]["scenarios"])),
        ],
    priority: 15
    resources: mem_mb=1500
    message: "Simulating page faults of {wildcards.workload}"
    shell:
        "tessera lab run virtuoso trace={input.info} platform={input.platform} {params.words} jobs={threads}"
        " --out {output[0]} 2> >(tee {log} >&2)"
