#include "engine/lanes/isa.h"

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace tessera::sim::lanes {
namespace {

bool has_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
}

}  // namespace

const char* chosen_isa() {
    const char* asked = std::getenv("TESSERA_SIM_ISA");
    if (asked == nullptr || *asked == 0) return has_avx512() ? "avx512" : "avx2";
    const std::string isa = asked;
    if (isa == "avx2") return "avx2";
    if (isa == "avx512" && has_avx512()) return "avx512";
    throw Refusal("TESSERA_SIM_ISA=" + isa, isa == "avx512" ? "this processor has no AVX-512" : "no such instruction set",
                  "use avx2 or avx512, or leave it unset");
}

std::unique_ptr<Machine> make_machine(const Platform& platform, unsigned layouts) {
    const bool wide = std::string(chosen_isa()) == "avx512";
    return std::unique_ptr<Machine>(wide ? make_machine_avx512(platform, layouts) : make_machine_avx2(platform, layouts));
}

}  // namespace tessera::sim::lanes
