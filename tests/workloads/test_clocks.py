"""Kernels read the clock in one place, outside their markers (trace.md, "Recordings that repeat")."""

import re

#: Measure the machine's clock itself, and are never recorded.
OF_THE_CLOCK = {"chase.cpp", "clockmarks.cpp"}
#: Time what they write natively; a recorded program only loads it.
OF_PREPARING = {"preparation.cpp"}
READS = re.compile(
    r"clock_gettime|gettimeofday|_clock::now|\bclock\(|\btime\(\s*(0|NULL|nullptr)|rdtsc"
    r"|random_device|getrandom|getentropy|/dev/u?random|_rdrand|_rdseed"
)


def test_only_one_place_reads_clocks_and_none_random_bytes(root):
    folder = root / "artifacts" / "workloads"
    sources = [path for suffix in ("h", "cpp", "c") for path in folder.rglob(f"*.{suffix}")]
    reading = {path.name for path in sources if READS.search(path.read_text()) and "tests" not in path.parts}
    assert reading - OF_THE_CLOCK - OF_PREPARING == {"measure.h"}
    text = (folder / "common" / "measure.h").read_text()
    clocks = [match.start() for match in READS.finditer(text)]
    begin, end = text.index("TESSERA_ROI_BEGIN();"), text.index("TESSERA_ROI_END();")
    assert len(clocks) == 2 and clocks[0] < begin < end < clocks[1]
