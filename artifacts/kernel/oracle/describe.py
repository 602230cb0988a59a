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

sys.dont_write_bytecode = True  # the checkout may belong to somebody else

from dwarf import name_of, require, structs_of, unit_of
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


def describe(stream):
    """The description of a kernel."""
    elf = ELFFile(stream)
    symbols = {
        s.name: s.entry.st_value
        for s in elf.get_section_by_name(".symtab").iter_symbols()
        if s.name in SYMBOLS
    }
    unit = unit_of(elf.get_dwarf_info(), UNIT)
    structs = structs_of(unit, STRUCTS)
    enumerators = {
        name_of(one): one.attributes["DW_AT_const_value"].value
        for die in unit.iter_children()
        if die.tag == "DW_TAG_enumeration_type"
        for one in die.iter_children()
    }
    require(sorted((set(SYMBOLS) - set(symbols)) | (set(STRUCTS) - set(structs))), stream.name)
    return {"symbols": symbols, "structs": structs, "enumerators": enumerators}


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: describe.py VMLINUX")
    with open(sys.argv[1], "rb") as vmlinux:
        json.dump(describe(vmlinux), sys.stdout, indent=1)
