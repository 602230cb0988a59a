// templates.h - recorded page faults of Linux as templates, which `tessera lab run fault-templates` writes (docs/explain/faults.md).
//
// A text file. First `tessera-fault-templates 1` and `kernel VERSION`, then templates:
//   template KIND TABLES BATCH            page tables that the fault allocates; 1: it moves a batch of pages to the LRU lists
//   INSTRUCTIONS WHAT BASE OFFSET BYTES   an access: instructions since the access before, the last of them makes it (0: the same one)
//   end INSTRUCTIONS                      instructions behind the last access
// WHAT is l or s (load, store), or L or S: all consecutive accesses of a repeated string instruction. OFFSET is hexadecimal, relative to
// BASE. Numbers are decimal. The kind `table` is the allocation of a page table, which faults without a template of so many tables get.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::sim::weave {

/// What the address of an access is relative to.
enum class Base : uint8_t {
    fixed,
    stack,                 ///< physical address in the recorded machine
    memory_map,                   ///< the struct page of frame 0
    page,
    page_struct,            ///< the touched page, its struct page
    source,
    source_struct,        ///< the copied page, its struct page
    entry_1,
    entry_2,
    entry_3,
    entry_4,  ///< entry of the touched address in the table of this level, 1 for last-level tables
    around,                       ///< the first of the 16 last-level entries that fault-around may fill
    table_1,
    table_2,
    table_3,
    table_4,  ///< table of this level
    new_table,
    new_struct,
    parent,       ///< kind `table`: the new table, its struct page, the entry that leads to it
};
inline constexpr size_t bases = 19;
const char* name_of(Base base);

struct TemplateStep {
    uint32_t instructions;
    bool store, string;
    Base base;
    uint64_t offset;
    uint32_t bytes;
    bool operator==(const TemplateStep&) const = default;
};

struct FaultTemplate {
    std::string kind;
    uint32_t tables;
    bool batch;
    std::vector<TemplateStep> steps;
    uint32_t tail;

    uint64_t instructions() const;
};

struct Templates {
    std::string kernel;
    std::vector<FaultTemplate> all;
};

/// Throws Refusal that names the file and the line, or the kernel if it is not the one that the imitation follows.
Templates parse_templates(const std::string& text, const std::string& path);
Templates read_templates(const std::string& path);

}  // namespace tessera::sim::weave
