#!/usr/bin/python3
"""describe.py VMLINUX: layouts of the structs that name a fault's lines, as JSON on standard output.

    {STRUCT: {"size": BYTES, "members": {NAME: OFFSET}}}

From the DWARF of one compilation unit, mm/memcontrol.c. Members of anonymous structs and unions count as
members of the struct around them. Exit status 1 if something of the list is missing.
"""

import json
import sys

from elftools.elf.elffile import ELFFile

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
LOOKED_THROUGH = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type")


def name_of(die):
    """Name of a DIE, "" if it has none."""
    attribute = die.attributes.get("DW_AT_name")
    return attribute.value.decode() if attribute else ""


def target(die):
    """The type of a member, without typedefs and qualifiers."""
    found = die.get_DIE_from_attribute("DW_AT_type")
    while found.tag in LOOKED_THROUGH:
        found = found.get_DIE_from_attribute("DW_AT_type")
    return found


def members(die, base=0):
    """(name, offset) of each named member, those of anonymous parts included."""
    for child in die.iter_children():
        if child.tag != "DW_TAG_member":
            continue
        location = child.attributes.get("DW_AT_data_member_location")
        offset = base + (location.value if location else 0)  # members of a union have no location
        if name_of(child):
            yield name_of(child), offset
        else:
            yield from members(target(child), offset)


def unit_of(dwarf):
    """The top DIE of the unit."""
    for unit in dwarf.iter_CUs():
        if name_of(unit.get_top_DIE()).endswith(UNIT):
            return unit.get_top_DIE()
    sys.exit(
        f"describe.py: {UNIT}: the kernel has no debug information of it\n  what to do: use variant oracle"
    )


def describe(stream):
    """The layouts of a kernel."""
    structs = {}
    for die in unit_of(ELFFile(stream).get_dwarf_info()).iter_children():
        name = name_of(die)
        if die.tag == "DW_TAG_structure_type" and name in NEEDED and "DW_AT_byte_size" in die.attributes:
            structs[name] = {"size": die.attributes["DW_AT_byte_size"].value, "members": dict(members(die))}
    missing = [name for name in NEEDED if name not in structs]
    missing += [
        f"{name}.{member}"
        for name, wanted in NEEDED.items()
        for member in wanted
        if name in structs and member not in structs[name]["members"]
    ]
    if missing:
        sys.exit(
            f"describe.py: {', '.join(missing)}: not in {stream.name}\n"
            "  what to do: compare the kernel's version with artifacts/kernel/SOURCE"
        )
    return structs


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: describe.py VMLINUX")
    with open(sys.argv[1], "rb") as vmlinux:
        json.dump(describe(vmlinux), sys.stdout)
