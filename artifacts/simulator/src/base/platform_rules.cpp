// platform_rules.cpp - rules between keys, one function per rule; tests/platform_rules_test.cpp breaks each rule.
//
// The rules reject configurations that are impossible, or that the simulator would silently ignore (a page size in two
// arrays, a prefetcher without a table). Unusual configurations are allowed, because studies vary every key.
#include "base/platform_rules.h"

#include <vector>

#include "base/error.h"

namespace tessera::sim {
namespace {

/// "key = value, key = value" of the platform, for `found`.
class Checker {
public:
    Checker(const std::string& name, const Platform& platform) : name_(name), platform_(platform) {}

    const Platform& operator*() const { return platform_; }
    const Platform* operator->() const { return &platform_; }

    [[noreturn]] void refuse(const std::string& rule, const std::vector<std::string>& keys, const std::string& remedy) const {
        std::string found;
        for (const std::string& key : keys) found += (found.empty() ? "" : ", ") + key + " = " + value(key);
        throw Refusal("platform " + name_ + ": " + rule, found, remedy);
    }

private:
    std::string value(const std::string& key) const {
        Platform copy = platform_;
        for (const PlatformKey& row : platform_keys())
            if (key == row.key) return row.word ? row.word(copy).name : std::to_string(row.field(copy));
        return "?";
    }
    const std::string& name_;
    const Platform& platform_;
};

bool exists(const Geometry& g) { return g.entries != 0; }

void geometry(const Checker& check, const std::string& prefix, const Geometry& g) {
    if (g.entries == 0 && g.ways == 0) return;
    if (g.entries == 0 || g.ways == 0 || g.entries % g.ways != 0)
        check.refuse("ways must divide entries; both must be 0 for a structure that does not exist",
                     {prefix + ".entries", prefix + ".ways"}, "correct one of the two");
}

void geometries(const Checker& check) {
    geometry(check, "tlb.l1d.4kb", check->l1_4kb);
    geometry(check, "tlb.l1d.2mb", check->l1_2mb);
    geometry(check, "tlb.l1d.1gb", check->l1_1gb);
    geometry(check, "tlb.l1i", check->l1i);
    geometry(check, "tlb.stlb", check->stlb);
    geometry(check, "tlb.stlb_2mb", check->stlb_2mb);
    geometry(check, "tlb.stlb_1gb", check->stlb_1gb);
    geometry(check, "pwc.pde", check->pwc_pde);
    geometry(check, "pwc.pdpte", check->pwc_pdpte);
    geometry(check, "pwc.pml4e", check->pwc_pml4e);
    geometry(check, "pwc.pml5e", check->pwc_pml5e);
}

/// Each page size is in exactly one array of the L1 DTLB.
void l1_size(const Checker& check, const std::string& prefix, const Geometry& own, uint64_t in_4kb) {
    if (in_4kb == (exists(own) ? 1u : 0u))
        check.refuse("a page size must have either its own L1 array or a place in the array of 4KB pages",
                     {prefix + ".entries", prefix + ".in_4kb"}, "set " + prefix + ".entries and .ways to 0, or " + prefix + ".in_4kb to 0");
}

/// Each page size is in one second-level array at most.
void second_level(const Checker& check, const std::string& size, const Geometry& own, uint64_t shares) {
    const std::string holds = "tlb.stlb.holds_" + size, entries = "tlb.stlb_" + size + ".entries";
    if (shares && exists(own))
        check.refuse("a page size can be in at most one second-level array", {holds, entries}, "set one of the two to 0");
    if (shares && !exists(check->stlb))
        check.refuse("a page size can share the STLB only if the STLB has entries", {holds, "tlb.stlb.entries"}, "set " + holds + " to 0");
}

void page_table(const Checker& check) {
    if (check->page_table_levels == 4 && exists(check->pwc_pml5e))
        check.refuse("a four-level page table has no PML5 entries to cache", {"page_table.levels", "pwc.pml5e.entries"},
                     "set pwc.pml5e.entries and .ways to 0, or page_table.levels to 5");
}

void cache(const Checker& check, const std::string& prefix, const CacheGeometry& c) {
    if (c.bytes % (64 * c.ways) != 0)
        check.refuse("a cache must consist of whole sets of 64-byte lines", {prefix + ".bytes", prefix + ".ways"},
                     "make " + prefix + ".bytes a multiple of 64 x ways");
}

void slices(const Checker& check) {
    if (check->l3_slices != 0 && check->l3.sets() % check->l3_slices != 0)
        check.refuse("the slices of L3 must have the same number of sets: " + std::to_string(check->l3.sets()) + " sets of 64-byte lines",
                     {"cache.l3.slices", "cache.l3.bytes", "cache.l3.ways"}, "set cache.l3.slices to a divisor of the sets, or to 0");
}

/// Equal times are allowed, because a study may remove the cost of a level.
void latencies(const Checker& check) {
    const struct {
        const char* key;
        uint64_t cycles;
    } level[] = {{"cache.l1d.load_cycles", check->l1d.load_cycles},
                 {"cache.l2.load_cycles", check->l2.load_cycles},
                 {"cache.l3.load_cycles", check->l3.load_cycles},
                 {"memory.load_cycles", check->memory_load_cycles}};
    for (size_t i = 1; i < 4; ++i)
        if (level[i].cycles < level[i - 1].cycles)
            check.refuse("a level must be no faster than the level above it", {level[i - 1].key, level[i].key},
                         "give the full load-to-use time of each level, not the added time");
}

void prefetcher(const Checker& check, const std::string& prefix, const PrefetchSlot& slot) {
    const bool none = slot.kind == "none";
    const bool numbers = slot.entries != 0 && slot.degree != 0 && slot.distance != 0;
    const bool zeros = slot.entries == 0 && slot.degree == 0 && slot.distance == 0;
    if (none ? !zeros : !numbers)
        check.refuse(
            none ? "without a prefetcher, entries, degree and distance must be 0" : "a prefetcher needs entries, degree and distance",
            {prefix + ".kind", prefix + ".entries", prefix + ".degree", prefix + ".distance"},
            none ? "set these three keys to 0, or name a kind (`tessera-sim list prefetchers`)"
                 : "set all three keys, or set " + prefix + ".kind to none");
}

void dram(const Checker& check) {
    const Dram& d = check->dram;
    const std::vector<std::string> keys = {
        "dram.channels",        "dram.banks", "dram.row_bytes", "dram.row_hit_saves_cycles", "dram.row_conflict_adds_cycles",
        "dram.bank_busy_cycles"};
    if (d.channels == 0) {
        if (d.banks != 0 || d.row_bytes != 0 || d.row_hit_saves_cycles != 0 || d.row_conflict_adds_cycles != 0 || d.bank_busy_cycles != 0)
            check.refuse("without memory channels, all other dram keys must be 0", keys, "set all dram keys to 0, or set dram.channels");
        return;
    }
    if (d.banks == 0 || d.row_bytes == 0)
        check.refuse("a memory channel must have banks and rows", keys, "set dram.banks and dram.row_bytes, or set all dram keys to 0");
    if (d.row_bytes < 64 || (d.row_bytes & (d.row_bytes - 1)) != 0)
        check.refuse("a row buffer must have at least 64 bytes, and its size must be a power of two", {"dram.row_bytes"},
                     "set for example 8192");
    if (d.row_hit_saves_cycles >= check->memory_load_cycles)
        check.refuse("a load from an open row must take at least one cycle", {"dram.row_hit_saves_cycles", "memory.load_cycles"},
                     "set dram.row_hit_saves_cycles to less than memory.load_cycles (tRCD)");
}

/// One node: no key of numa may pretend to have an effect.
void numa(const Checker& check) {
    const Numa& n = check->numa;
    const std::vector<std::string> keys = {"numa.nodes",    "numa.table_node",         "numa.data_node",
                                           "numa.hog_node", "numa.remote_load_cycles", "numa.remote_cycles_per_line",
                                           "numa.hog_lines"};
    if (n.nodes == 1) {
        if ((n.table_node | n.data_node | n.hog_node | n.remote_load_cycles | n.remote_cycles_per_line | n.hog_lines) != 0)
            check.refuse("with one node, all other numa keys must be 0", keys, "set numa.nodes to 2 or more, or the others to 0");
        return;
    }
    if (n.table_node >= n.nodes || n.data_node >= n.nodes || n.hog_node >= n.nodes)
        check.refuse("a node must be one of 0 to numa.nodes - 1", {"numa.nodes", "numa.table_node", "numa.data_node", "numa.hog_node"},
                     "correct the node, or set numa.nodes");
    if (n.remote_load_cycles < check->memory_load_cycles || n.remote_cycles_per_line < check->memory_cycles_per_line)
        check.refuse("the memory of another node must be no faster than that of the program's node",
                     {"memory.load_cycles", "numa.remote_load_cycles", "memory.cycles_per_line", "numa.remote_cycles_per_line"},
                     "give the whole times of a remote load and of a remote line");
    constexpr uint64_t most_load_cycles = 100000;  // as memory.load_cycles
    if (n.remote_load_cycles + n.hog_lines * check->memory_cycles_per_line > most_load_cycles)
        check.refuse("a load behind the hog must take at most 100000 cycles",
                     {"numa.remote_load_cycles", "numa.hog_lines", "memory.cycles_per_line"}, "lower numa.hog_lines");
}

/// Letters, digits, - and _: what a registered name can be, and what fits a line of a flat file.
void words(const Checker& check) {
    Platform copy = *check;
    for (const PlatformKey& row : platform_keys()) {
        if (row.word == nullptr) continue;
        const std::string& word = row.word(copy).name;
        const bool plain = !word.empty() && word.size() <= 64 &&
                           word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == std::string::npos;
        if (!plain) check.refuse("a name must have 1 to 64 characters: letters, digits, - and _", {row.key}, "see `tessera-sim list`");
    }
}

void direct_map(const Checker& check) {
    if (check->direct_map_mb != 2 && check->direct_map_mb != 1024)
        check.refuse("the kernel's own addresses must have pages of 2MB or 1GB", {"os.direct_map_mb"}, "set os.direct_map_mb to 2 or 1024");
}

}  // namespace

void check_platform_rules(const std::string& name, const Platform& platform) {
    const Checker check(name, platform);
    words(check);
    geometries(check);
    l1_size(check, "tlb.l1d.2mb", check->l1_2mb, check->l1_2mb_in_4kb);
    l1_size(check, "tlb.l1d.1gb", check->l1_1gb, check->l1_1gb_in_4kb);
    second_level(check, "2mb", check->stlb_2mb, check->stlb_holds_2mb);
    second_level(check, "1gb", check->stlb_1gb, check->stlb_holds_1gb);
    page_table(check);
    cache(check, "cache.l1d", check->l1d);
    cache(check, "cache.l2", check->l2);
    cache(check, "cache.l3", check->l3);
    slices(check);
    latencies(check);
    prefetcher(check, "prefetch.l1d", check->prefetch_l1d);
    prefetcher(check, "prefetch.l2", check->prefetch_l2);
    dram(check);
    numa(check);
    direct_map(check);
}

}  // namespace tessera::sim
