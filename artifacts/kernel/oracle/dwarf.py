"""Layouts of structs from the DWARF of one compilation unit of a kernel, for the scripts `describe.py`."""

import sys

LOOKED_THROUGH = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type")


def name_of(die):
    """Name of a DIE, "" if it has none."""
    attribute = die.attributes.get("DW_AT_name")
    return attribute.value.decode() if attribute else ""


def unit_of(dwarf, path):
    """The top DIE of the unit whose source file ends with ``path``."""
    for unit in dwarf.iter_CUs():
        if name_of(unit.get_top_DIE()).endswith(path):
            return unit.get_top_DIE()
    sys.exit(
        f"describe.py: {path}: the kernel has no debug information of it\n"
        "  what to do: set CONFIG_DEBUG_INFO_DWARF4=y, as variant oracle does"
    )


def structs_of(unit, wanted):
    """{STRUCT: {"size": BYTES, "members": {NAME: OFFSET}}} of the structs with these names that the unit has."""
    return {
        name_of(die): {"size": die.attributes["DW_AT_byte_size"].value, "members": dict(_members(die))}
        for die in unit.iter_children()
        if die.tag == "DW_TAG_structure_type" and name_of(die) in wanted and "DW_AT_byte_size" in die.attributes
    }


def require(missing, vmlinux):
    """End the script if something is missing."""
    if missing:
        sys.exit(
            f"describe.py: {', '.join(missing)}: not in {vmlinux}\n"
            "  what to do: compare the kernel's version with artifacts/kernel/SOURCE"
        )


def _members(die, base=0):
    """(name, offset) of each named member; those of anonymous structs and unions count as the outer struct's."""
    for child in die.iter_children():
        if child.tag != "DW_TAG_member":
            continue
        location = child.attributes.get("DW_AT_data_member_location")
        offset = base + (location.value if location else 0)  # members of a union have no location
        if name_of(child):
            yield name_of(child), offset
        else:
            yield from _members(_type_of(child), offset)


def _type_of(member):
    """The type of a member, without typedefs and qualifiers."""
    found = member.get_DIE_from_attribute("DW_AT_type")
    while found.tag in LOOKED_THROUGH:
        found = found.get_DIE_from_attribute("DW_AT_type")
    return found
