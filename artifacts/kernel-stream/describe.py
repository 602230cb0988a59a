#!/usr/bin/python3
"""describe.py VMLINUX: layouts of the structs that name a fault's lines, as JSON on standard output.

    {STRUCT: {"size": BYTES, "members": {NAME: OFFSET}}}

From the DWARF of one compilation unit, mm/memcontrol.c. Members of anonymous structs and unions count as
members of the struct around them. Exit status 1 if something of the list is missing.
"""

import json
import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile

sys.dont_write_bytecode = True  # the checkout may belong to somebody else
sys.path.insert(0, str(Path(__file__).parents[1] / "kernel" / "oracle"))
from dwarf import require, structs_of, unit_of  # noqa: E402

UNIT = "mm/memcontrol.c"
#: struct -> members that the reader needs
NEEDED = {
    "page": ("flags", "mapping", "compound_head", "page_type", "memcg_data"),
    "slab": ("slab_cache",),
    "kmem_cache": ("cpu_slab", "name", "list"),
    "task_struct": ("tasks", "comm", "stack", "mm"),
    "mm_struct": ("rss_stat", "pgd"),
    "percpu_counter": ("counters",),
    "pglist_data": ("node_zones", "per_cpu_nodestats", "__lruvec", "vm_stat"),
    "zone": ("per_cpu_pageset", "per_cpu_zonestats"),
    "per_cpu_pages": (),
    "per_cpu_zonestat": (),
    "per_cpu_nodestat": (),
    "lruvec": (),
    "mem_cgroup": ("css", "objcg", "vmstats", "vmstats_percpu", "nodeinfo"),
    "cgroup_subsys_state": ("refcnt", "cgroup"),
    "cgroup": ("rstat_cpu",),
    "cgroup_rstat_cpu": (),
    "percpu_ref": ("percpu_count_ptr",),
    "obj_cgroup": ("refcnt",),
    "mem_cgroup_per_node": ("lruvec", "lruvec_stats", "lruvec_stats_percpu"),
    "memcg_vmstats": (),
    "memcg_vmstats_percpu": (),
    "lruvec_stats": (),
    "lruvec_stats_percpu": (),
}


def describe(stream):
    """The layouts of a kernel."""
    structs = structs_of(unit_of(ELFFile(stream).get_dwarf_info(), UNIT), NEEDED)
    missing = [name for name in NEEDED if name not in structs]
    missing += [
        f"{name}.{member}"
        for name, wanted in NEEDED.items()
        for member in wanted
        if name in structs and member not in structs[name]["members"]
    ]
    require(missing, stream.name)
    return structs


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: describe.py VMLINUX")
    with open(sys.argv[1], "rb") as vmlinux:
        json.dump(describe(vmlinux), sys.stdout)
