// cpuid.cpp - `tessera-sim cpuid`: what this processor says about its TLBs and caches, as JSON.
//
// Sources: leaf 2 (descriptor bytes; Intel SDM vol. 2A, CPUID), leaf 4 (caches), leaf 0x18 (TLBs). Keys are those of a
// platform file. null: not reported, or not understood. Under a hypervisor these are the hypervisor's words.
#include <cpuid.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include "cli/commands.h"

namespace tessera::sim {
namespace {

using Values = std::map<std::string, uint64_t>;

void put(Values& v, const std::string& prefix, uint64_t entries, uint64_t ways) {
    v.emplace(prefix + ".entries", entries);
    v.emplace(prefix + ".ways", ways);
}

/// Data-TLB descriptors of leaf 2 that the modelled generations report.
void leaf2_descriptor(Values& v, uint8_t byte) {
    switch (byte) {
        case 0x03: put(v, "tlb.l1d.4kb", 64, 4); break;
        case 0x5a: put(v, "tlb.l1d.2mb", 32, 4); break;
        case 0x63: put(v, "tlb.l1d.1gb", 4, 4); put(v, "tlb.l1d.2mb", 32, 4); break;
        case 0xca: put(v, "tlb.stlb", 512, 4); v.emplace("tlb.stlb.holds_2mb", 0); break;
        case 0xc1: put(v, "tlb.stlb", 1024, 8); v.emplace("tlb.stlb.holds_2mb", 1); break;
        case 0xc3: put(v, "tlb.stlb", 1536, 6); v.emplace("tlb.stlb.holds_2mb", 1); put(v, "tlb.stlb_1gb", 16, 4); break;
        default: break;
    }
}

/// True when leaf 2 refers to leaf 0x18 for its TLBs (descriptor 0xfe).
bool leaf2(Values& v) {
    unsigned r[4];
    bool refers = false;
    if (!__get_cpuid(2, &r[0], &r[1], &r[2], &r[3])) return false;
    for (int i = 0; i < 4; ++i) {
        if (r[i] & 0x80000000u) continue;  // this register holds no descriptors
        for (int b = i == 0 ? 1 : 0; b < 4; ++b) {
            const uint8_t byte = uint8_t(r[i] >> (8 * b));
            refers |= byte == 0xfe;
            leaf2_descriptor(v, byte);
        }
    }
    return refers;
}

void leaf4(Values& v) {
    unsigned a, b, c, d;
    for (unsigned sub = 0; sub < 16 && __get_cpuid_count(4, sub, &a, &b, &c, &d) && (a & 31) != 0; ++sub) {
        if ((a & 31) == 2) continue;  // instruction cache
        const unsigned level = (a >> 5) & 7;
        const uint64_t ways = (b >> 22) + 1, parts = ((b >> 12) & 1023) + 1, line = (b & 4095) + 1, sets = uint64_t{c} + 1;
        if (level < 1 || level > 3 || line * parts != 64) continue;
        const char* const name[] = {"cache.l1d", "cache.l2", "cache.l3"};
        v.emplace(std::string(name[level - 1]) + ".bytes", ways * 64 * sets);
        v.emplace(std::string(name[level - 1]) + ".ways", ways);
    }
}

void leaf18(Values& v) {
    unsigned a, b, c, d;
    if (!__get_cpuid_count(0x18, 0, &a, &b, &c, &d)) return;
    const unsigned last = a;
    for (unsigned sub = 0; sub <= last && __get_cpuid_count(0x18, sub, &a, &b, &c, &d); ++sub) {
        const unsigned type = d & 31, level = (d >> 5) & 7;
        if (type == 0 || type == 2) continue;  // none, or instruction TLB
        const uint64_t ways = b >> 16, entries = ways * c;
        const bool small = b & 1, large = b & 2, huge = b & 8;
        if (entries == 0) continue;
        if (level == 1 && small) put(v, "tlb.l1d.4kb", entries, ways);
        if (level == 1 && large && !small) put(v, "tlb.l1d.2mb", entries, ways);
        if (level == 1 && huge && !small) put(v, "tlb.l1d.1gb", entries, ways);
        if (level == 2 && small) put(v, "tlb.stlb", entries, ways), v.emplace("tlb.stlb.holds_2mb", large);
        if (level == 2 && huge && !small) put(v, "tlb.stlb_1gb", entries, ways);
    }
}

}  // namespace

int cpuid_command() {
    Values values;
    const bool refers = leaf2(values);
    if (refers || values.empty()) leaf18(values);
    leaf4(values);
    unsigned a = 0, b[3] = {}, c = 0, d = 0;
    char vendor[13] = {};
    if (__get_cpuid(0, &a, &b[0], &b[2], &b[1]))
        for (int i = 0; i < 12; ++i) vendor[i] = char(b[i / 4] >> (8 * (i % 4)));
    uint64_t frequency = 0;
    if (__get_cpuid(0x16, &a, &b[0], &c, &d)) frequency = uint64_t{a & 0xffff} * 1'000'000;
    if (frequency != 0) values.emplace("core.frequency_hz", frequency);
    const char* const reported[] = {"core.frequency_hz", "tlb.l1d.4kb.entries", "tlb.l1d.4kb.ways", "tlb.l1d.2mb.entries",
        "tlb.l1d.2mb.ways", "tlb.l1d.1gb.entries", "tlb.l1d.1gb.ways", "tlb.stlb.entries", "tlb.stlb.ways",
        "tlb.stlb.holds_2mb", "tlb.stlb_1gb.entries", "tlb.stlb_1gb.ways", "cache.l1d.bytes", "cache.l1d.ways",
        "cache.l2.bytes", "cache.l2.ways", "cache.l3.bytes", "cache.l3.ways"};
    std::printf("{\n  \"vendor\": \"%s\"", vendor);
    for (const char* key : reported) {
        const auto found = values.find(key);
        if (found == values.end()) std::printf(",\n  \"%s\": null", key);
        else std::printf(",\n  \"%s\": %llu", key, static_cast<unsigned long long>(found->second));
    }
    std::puts("\n}");
    return 0;
}

}  // namespace tessera::sim
