#include "support/masked_probe.h"

#include <stdexcept>

namespace tessera::sim::testing {

MaskedProbe* make_probe_baseline(const ProbeConfig&);
MaskedProbe* make_probe_avx2(const ProbeConfig&);
MaskedProbe* make_probe_avx512(const ProbeConfig&);

std::unique_ptr<MaskedProbe> make_masked_probe(const std::string& isa, const ProbeConfig& config) {
    if (isa == "baseline") return std::unique_ptr<MaskedProbe>(make_probe_baseline(config));
    if (isa == "avx2") return std::unique_ptr<MaskedProbe>(__builtin_cpu_supports("avx2") ? make_probe_avx2(config) : nullptr);
    if (isa != "avx512") throw std::invalid_argument("no probe is built for " + isa);
    const bool runs = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
    return std::unique_ptr<MaskedProbe>(runs ? make_probe_avx512(config) : nullptr);
}

}  // namespace tessera::sim::testing
