// cpuid_report.cpp - vendor, family and model, clock, and the cache leaf that both vendors share.
#include "cli/cpuid_report.h"

namespace tessera::sim {
namespace {

constexpr uint32_t bits(uint32_t value, unsigned high, unsigned low) { return value >> low & ((uint64_t{2} << (high - low)) - 1); }

void identify(const CpuidReader& read, CpuidReport& report) {
    if (const auto r = read(0, 0))
        for (const uint32_t part : {r->b, r->d, r->c})
            for (int byte = 0; byte < 4; ++byte)
                if (const char c = char(part >> (8 * byte)); c >= ' ' && c <= '~' && c != '"' && c != '\\') report.vendor += c;
    if (const auto r = read(1, 0)) {
        report.family = bits(r->a, 11, 8);
        report.model = bits(r->a, 7, 4);
        if (report.family == 15 || report.family == 6) report.model += bits(r->a, 19, 16) << 4;
        if (report.family == 15) report.family += bits(r->a, 27, 20);
        report.hypervisor = bits(r->c, 31, 31);
    }
}

}  // namespace

void decode_cache_leaf(const CpuidReader& read, uint32_t leaf, CpuidValues& values) {
    const char* const name[] = {"cache.l1d", "cache.l2", "cache.l3"};
    for (uint32_t sub = 0; sub < 16; ++sub) {
        const auto r = read(leaf, sub);
        if (!r || bits(r->a, 4, 0) == 0) return;
        if (bits(r->a, 4, 0) == 2) continue;  // an instruction cache
        const uint32_t level = bits(r->a, 7, 5);
        const uint64_t ways = bits(r->b, 31, 22) + uint64_t{1}, parts = bits(r->b, 21, 12) + uint64_t{1};
        const uint64_t line = bits(r->b, 11, 0) + uint64_t{1}, sets = r->c + uint64_t{1};
        if (level < 1 || level > 3 || line * parts != 64) continue;
        values.put(std::string(name[level - 1]) + ".bytes", ways * 64 * sets);
        values.put(std::string(name[level - 1]) + ".ways", ways);
    }
}

CpuidReport decode_cpuid(const CpuidReader& read) {
    CpuidReport report;
    identify(read, report);
    if (report.vendor == "GenuineIntel") {
        decode_intel_tlbs(read, report.values);
        decode_cache_leaf(read, 4, report.values);
    } else if (report.vendor == "AuthenticAMD" || report.vendor == "HygonGenuine") {
        decode_amd(read, report.values);
        decode_cache_leaf(read, 0x8000001d, report.values);
    }
    if (const auto r = read(0x16, 0); r && bits(r->a, 15, 0) != 0)
        report.values.put("core.frequency_hz", uint64_t{bits(r->a, 15, 0)} * 1'000'000);
    return report;
}

}  // namespace tessera::sim
