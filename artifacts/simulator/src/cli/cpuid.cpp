// cpuid.cpp - `tessera-sim cpuid`: prints this processor's TLBs and caches from CPUID, as JSON.
//
// Keys are those of a platform file; a missing or unknown value is null. Under a hypervisor, the values come from the
// hypervisor and may be zeros.
#include <cpuid.h>

#include <cstdio>

#include "base/platform.h"
#include "cli/commands.h"
#include "cli/cpuid_report.h"

namespace tessera::sim {
namespace {

std::optional<CpuidRegisters> this_processor(uint32_t leaf, uint32_t sub) {
    CpuidRegisters r;
    if (!__get_cpuid_count(leaf, sub, &r.a, &r.b, &r.c, &r.d)) return std::nullopt;
    return r;
}

}  // namespace

int cpuid_command() {
    const CpuidReport report = decode_cpuid(this_processor);
    std::printf("{\n  \"vendor\": \"%s\",\n  \"family\": %llu,\n  \"model\": %llu,\n  \"hypervisor\": %s", report.vendor.c_str(),
                static_cast<unsigned long long>(report.family), static_cast<unsigned long long>(report.model),
                report.hypervisor ? "true" : "false");
    for (const PlatformKey& row : platform_keys()) {
        const std::string key = row.key;
        const bool size = key.starts_with("tlb.") || key.starts_with("cache.") || key == "core.frequency_hz";
        if (!size || row.word != nullptr || key.ends_with("_cycles")) continue;  // CPUID knows no latencies and no policies
        const auto found = report.values.all().find(key);
        if (found == report.values.all().end()) std::printf(",\n  \"%s\": null", row.key);
        else std::printf(",\n  \"%s\": %llu", row.key, static_cast<unsigned long long>(found->second));
    }
    std::puts("\n}");
    return 0;
}

}  // namespace tessera::sim
