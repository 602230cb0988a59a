#include "base/isa.h"

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace tessera::sim {
namespace {

/// What -march=x86-64-v4 and -march=x86-64-v3 let the compiler use.
bool has_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
}
bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("lzcnt");
}

}  // namespace

const char* chosen_isa() {
    const char* asked = std::getenv("TESSERA_SIM_ISA");
    if (asked == nullptr || *asked == 0) return has_avx512() ? "avx512" : has_avx2() ? "avx2" : "baseline";
    const std::string isa = asked;
    if (isa == "avx512" && has_avx512()) return "avx512";
    if (isa == "avx2" && has_avx2()) return "avx2";
    if (isa == "baseline") return "baseline";
    throw Refusal("TESSERA_SIM_ISA=" + isa,
                  isa == "avx512" || isa == "avx2" ? "this processor does not support it" : "no such instruction set",
                  "set it to avx512, avx2 or baseline, or unset it to use the widest set of this processor");
}

}  // namespace tessera::sim
