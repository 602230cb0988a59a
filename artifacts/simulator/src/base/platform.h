// platform.h - the numbers that describe a processor, read from a flat file.
//
// A platform is the only description of the machine that engines read. Every field has one key, which is a line of
// platform_keys.def with unit, bounds and meaning. A key has a default if the same value fits most machines (an ablation
// that is off). `tessera-sim keys` prints the table. A file must set all keys without a default. config/platforms/*.yaml
// records the source of each value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/chosen.h"

namespace tessera::sim {

/// A default of the table as a number; 0 where there is none.
constexpr uint64_t digits_of(std::string_view text) {
    uint64_t value = 0;
    for (char c : text) value = value * 10 + static_cast<uint64_t>(c - '0');
    return value;
}

/// A set-associative structure counted in entries. entries 0: the structure does not exist.
struct Geometry {
    uint64_t entries = 0;
    uint64_t ways = 0;
    uint64_t sets() const { return ways == 0 ? 0 : entries / ways; }
};

/// A data cache of 64-byte lines; load_cycles is the whole load-to-use time of a hit at this level.
struct CacheGeometry {
    uint64_t bytes = 0;
    uint64_t ways = 0;
    uint64_t load_cycles = 0;
    Chosen replacement = "lru";
    uint64_t sets() const { return bytes / 64 / ways; }
};

struct CoreLatencies {
    uint64_t alu = 0, multiply = 0, divide = 0, fp_add = 0, fp_multiply = 0, fp_divide = 0;
};

/// What `rep movs`, `rep stos` and a kernel's copies hold dispatch for; 0: nothing but their accesses.
struct StringCosts {
    uint64_t begin_cycles = 0, page_cycles = 0;
};

/// Execution ports: so many begin in a cycle; 0: any number.
struct Ports {
    uint64_t load = 0, store = 0, alu = 0;
};

/// One prefetcher slot: `kind` names a registered prefetcher, "none" leaves it out.
struct PrefetchSlot {
    Chosen kind = "none";
    uint64_t entries = 0, degree = 0, distance = 0;
};

/// Memory behind L3. channels 0: every load takes memory_load_cycles. Row buffers and queues change R only, never C.
struct Dram {
    uint64_t channels = 0, banks = 0, row_bytes = 0;
    uint64_t row_hit_saves_cycles = 0, row_conflict_adds_cycles = 0;  ///< relative to memory_load_cycles (a closed row)
    uint64_t bank_busy_cycles = 0;                                     ///< least distance between two accesses of a bank
};

/// Nodes of a machine with several memories (cache/memory_node.h). The program runs on node 0, whose memory the keys memory.* describe.
struct Numa {
    uint64_t nodes = 1, table_node = 0, data_node = 0, hog_node = 0;
    uint64_t remote_load_cycles = 0, remote_cycles_per_line = 0;  ///< of the other nodes' memory
    uint64_t hog_lines = 0;                                       ///< outstanding at hog_node, always
};

struct Platform {
    CoreLatencies latency;
    StringCosts string;
    Ports ports;
    Geometry l1_4kb, l1_2mb, l1_1gb;                    ///< L1 DTLB, split by page size
    Geometry l1i;                                       ///< L1 ITLB; 0 entries: the instruction side is not simulated
    Geometry stlb, stlb_2mb, stlb_1gb;
    Geometry pwc_pde, pwc_pdpte, pwc_pml4e, pwc_pml5e;  ///< page-walk caches, one per level of non-leaf entries
    CacheGeometry l1d, l2, l3;
    PrefetchSlot prefetch_l1d, prefetch_l2;
    Dram dram;
    Numa numa;
    // The others are in the table: a field a line, which starts at its default, or at 0 without one.
#define NUMBER(field, key, unit, least, most, fallback, ...) uint64_t field = digits_of(fallback);
#define NAME(field, key, section, fallback, ...) Chosen field = fallback;
#define NUMBER_OF_PART(...)
#define NAME_OF_PART(...)
#include "base/platform_keys.def"
#undef NUMBER
#undef NAME
#undef NUMBER_OF_PART
#undef NAME_OF_PART
    std::map<std::string, OwnNumbers> sections;  ///< as given: `design.anchor` -> its numbers, of components in use or not
    std::vector<std::string> filled;             ///< keys that the file left out, which took their defaults
};

/// One row of `tessera-sim keys`: a number (`field`) or the name of a registered component (`word`).
struct PlatformKey {
    const char* key;
    const char* unit;
    uint64_t least, most;
    const char* fallback;  ///< digits or a name; "": the key must be given
    const char* source;    ///< of the default
    const char* description;
    uint64_t& (*field)(Platform&);
    Chosen& (*word)(Platform&) = nullptr;
    const char* section = "";  ///< of a name: where components of this kind have keys of their own
};

const std::vector<PlatformKey>& platform_keys();

/// The values of the keys that begin so, with own numbers of the components that they name, as a text to compare two platforms by.
std::string keys_under(const Platform& platform, std::string_view begin);

/// Parses and validates `key = value` lines (`#` starts a comment). Throws Refusal naming key, rule and value.
/// Numbers in a component's section are kept as they are: the registries know their keys (mmu/components.h).
Platform parse_platform(const std::string& text, const std::string& name);
Platform read_platform(const std::string& path);

}  // namespace tessera::sim
