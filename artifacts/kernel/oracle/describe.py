#!/usr/bin/python3
"""describe.py VMLINUX: what the reader of guest memory needs of a kernel, as JSON on standard output.

    {"symbols": {NAME: ADDRESS}, "structs": {NAME: {"size": BYTES, "members": {NAME: OFFSET}}},
     "enumerators": {NAME: VALUE}}

From the symbol table and from the DWARF of one compilation unit, mm/page_alloc.c. Members of anonymous
structs and unions count as members of the struct around them. Exit status 1 if something of the lists is
missing.
"""

import json
import sys

from elftools.elf.elffile import ELFFile

UNIT = "mm/page_alloc.c"
SYMBOLS = (
    "contig_page_data",
    "mem_section",
    "e820_table",
    "__per_cpu_offset",
    "min_free_kbytes",
    "watermark_boost_factor",
)
STRUCTS = (
    "page",
    "zone",
    "free_area",
    "pglist_data",
    "per_cpu_pages",
    "per_cpu_zonestat",
    "mem_section",
    "mem_section_usage",
)
LOOKED_THROUGH = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type")


def name_of(die):
    """Name of a DIE, "" if it has none."""
    attribute = die.attributes.get("DW_AT_name")
    return attribute.value.decode() if attribute else ""


def inside(die):
    """The struct or union that is the type of a member."""
    target = die.get_DIE_from_attribute("DW_AT_type")
    while target.tag in LOOKED_THROUGH:
        target = target.get_DIE_from_attribute("DW_AT_type")
    return target


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
            yield from members(inside(child), offset)


def unit_of(dwarf):
    """The top DIE of the unit."""
    for unit in dwarf.iter_CUs():
        if name_of(unit.get_top_DIE()).endswith(UNIT):
            return unit.get_top_DIE()
    sys.exit(
        f"describe.py: {UNIT}: the kernel has no debug information of it\n"
        "  what to do: set CONFIG_DEBUG_INFO_DWARF4=y"
    )


def describe(stream):
    """The description of a kernel."""
    elf = ELFFile(stream)
    symbols = {
        s.name: s.entry.st_value
        for s in elf.get_section_by_name(".symtab").iter_symbols()
        if s.name in SYMBOLS
    }
    structs, enumerators = {}, {}
    for die in unit_of(elf.get_dwarf_info()).iter_children():
        if (
            die.tag == "DW_TAG_structure_type"
            and name_of(die) in STRUCTS
            and "DW_AT_byte_size" in die.attributes
        ):
            structs[name_of(die)] = {
                "size": die.attributes["DW_AT_byte_size"].value,
                "members": dict(members(die)),
            }
        elif die.tag == "DW_TAG_enumeration_type":
            enumerators |= {
                name_of(one): one.attributes["DW_AT_const_value"].value for one in die.iter_children()
            }
    missing = (set(SYMBOLS) - set(symbols)) | (set(STRUCTS) - set(structs))
    if missing:
        sys.exit(
            f"describe.py: {', '.join(sorted(missing))}: not in {stream.name}\n"
            "  what to do: compare it with artifacts/kernel/SOURCE"
        )
    return {"symbols": symbols, "structs": structs, "enumerators": enumerators}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: describe.py VMLINUX")
    with open(sys.argv[1], "rb") as vmlinux:
        json.dump(describe(vmlinux), sys.stdout, indent=1)
