// cpuid_report.h - decodes a processor's TLBs and caches from CPUID's registers.
//
// The decoders read registers through a function, so that tests can pass recorded registers. A value that is missing or
// unknown is absent from the report; the decoders never guess.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace tessera::sim {

struct CpuidRegisters {
    uint32_t a = 0, b = 0, c = 0, d = 0;
};

/// Registers of a leaf and sub-leaf; nullopt where the processor has no such leaf.
using CpuidReader = std::function<std::optional<CpuidRegisters>(uint32_t leaf, uint32_t sub)>;

/// Platform key -> value.
class CpuidValues {
public:
    void put(const std::string& key, uint64_t value) { values_.emplace(key, value); }  // the first report of a key is kept
    /// Both keys, unless ways do not divide entries (then the report makes no sense).
    void put(const std::string& prefix, uint64_t entries, uint64_t ways) {
        if (entries == 0 || ways == 0 || entries % ways != 0) return;
        put(prefix + ".entries", entries);
        put(prefix + ".ways", ways);
    }
    void put_none(const std::string& prefix) { put(prefix + ".entries", 0), put(prefix + ".ways", 0); }
    const std::map<std::string, uint64_t>& all() const { return values_; }

private:
    std::map<std::string, uint64_t> values_;
};

struct CpuidReport {
    std::string vendor;
    uint64_t family = 0, model = 0;
    bool hypervisor = false;  ///< leaf 1 reports a hypervisor, which may change the values
    CpuidValues values;
};

CpuidReport decode_cpuid(const CpuidReader& read);

void decode_intel_tlbs(const CpuidReader& read, CpuidValues& values);  ///< leaves 2 and 18h (Intel SDM vol. 2A, CPUID)
void decode_amd(const CpuidReader& read, CpuidValues& values);         ///< leaves 80000005h, 6h, 19h (AMD64 APM vol. 3, appendix E)
/// Leaf 4 (Intel) or 8000001Dh (AMD): both have one form.
void decode_cache_leaf(const CpuidReader& read, uint32_t leaf, CpuidValues& values);

}  // namespace tessera::sim
