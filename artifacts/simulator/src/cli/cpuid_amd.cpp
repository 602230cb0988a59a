// cpuid_amd.cpp - TLBs of AMD processors: leaves 80000005h (first level), 80000006h (second), 80000019h (1GB pages).
//
// From Zen 5 on, sizes of the second level are in units of 32 entries: bit 14 of leaf 80000021h, EAX (L2TlbSizeX32). Some
// hypervisors hide this bit and pass the sizes on, so family 1Ah counts as having it.
#include "cli/cpuid_report.h"

namespace tessera::sim {
namespace {

constexpr uint64_t most_ways = 64;  // of a platform key; a larger fully associative array has no representation

/// Ways of the four-bit code of the second level; 0: disabled, or reported in another leaf.
uint64_t ways_of_code(uint32_t code, uint64_t entries) {
    constexpr uint64_t ways[16] = {0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0};
    return code == 15 ? entries : ways[code];
}

struct Array {
    uint64_t entries = 0, ways = 0;
    bool operator==(const Array&) const = default;
    bool fully_associative() const { return entries != 0 && entries == ways; }
};

/// Data half of a register of leaf 80000005h: 8 bits of ways (255: all), 8 bits of entries.
Array first_level(uint32_t half) {
    const uint64_t entries = half & 255, ways = half >> 8 & 255;
    return {entries, ways == 255 ? entries : ways};
}

/// A half of leaves 80000006h and 80000019h: 4 bits of ways, 12 bits of entries.
Array coded(uint32_t half, uint64_t unit) {
    const uint64_t entries = (half & 4095) * unit;
    return {entries, ways_of_code(half >> 12 & 15, entries)};
}

/// Entries that a unit of a second level's size stands for.
uint64_t second_level_unit(const CpuidReader& read) {
    const auto features = read(0x80000021, 0), version = read(1, 0);
    if (features && features->a >> 14 & 1) return 32;
    const uint32_t family = version ? (version->a >> 8 & 15) + (version->a >> 20 & 255) : 0;
    return family == 0x1a ? 32 : 1;
}

void put(CpuidValues& v, const std::string& prefix, const Array& array) {
    if (array.ways <= most_ways) v.put(prefix, array.entries, array.ways);
}

}  // namespace

void decode_amd(const CpuidReader& read, CpuidValues& v) {
    const auto l1 = read(0x80000005, 0), l2 = read(0x80000006, 0), large = read(0x80000019, 0);
    const uint64_t unit = second_level_unit(read);
    if (l1) {
        const Array of_4kb = first_level(l1->b >> 16), of_2mb = first_level(l1->a >> 16);
        const Array of_1gb = large ? coded(large->a >> 16, 1) : Array{};
        put(v, "tlb.l1d.4kb", of_4kb);
        put(v, "tlb.l1i", first_level(l1->b & 0xffff));
        // Three equal fully associative arrays are one that holds all sizes (Zen; Software Optimization Guides).
        const bool shared = of_4kb.fully_associative() && of_2mb == of_4kb && of_1gb == of_4kb;
        const struct {
            const char* prefix;
            const Array& array;
        } sizes[] = {{"tlb.l1d.2mb", of_2mb}, {"tlb.l1d.1gb", of_1gb}};
        for (const auto& [prefix, array] : sizes) {
            if (shared) v.put_none(prefix);
            else put(v, prefix, array);
            if (array.entries != 0) v.put(std::string(prefix) + ".in_4kb", shared);
        }
    }
    if (l2) {
        const Array of_4kb = coded(l2->b >> 16, unit), of_2mb = coded(l2->a >> 16, unit),
                    of_1gb = large ? coded(large->b >> 16, unit) : Array{};
        if (of_4kb.entries == 0) return;
        put(v, "tlb.stlb", of_4kb);
        const bool shared = of_2mb.entries == of_4kb.entries;  // Zen: one array; the ways of both sizes differ in the report
        v.put("tlb.stlb.holds_2mb", shared);
        v.put("tlb.stlb.holds_1gb", 0);
        if (shared || of_2mb.entries == 0) v.put_none("tlb.stlb_2mb");
        else put(v, "tlb.stlb_2mb", of_2mb);
        if (of_1gb.entries == 0) v.put_none("tlb.stlb_1gb");
        else put(v, "tlb.stlb_1gb", of_1gb);
    }
}

}  // namespace tessera::sim
