// isa.h - the builds of the vector code that this processor can run, and a way to force one.
#pragma once

#include <cstdlib>
#include <vector>

namespace tessera::sim::testing {

inline std::vector<const char*> instruction_sets() {
    std::vector<const char*> all = {"baseline"};
    if (__builtin_cpu_supports("avx2")) all.push_back("avx2");
    if (__builtin_cpu_supports("avx512bw")) all.push_back("avx512");
    return all;
}

/// While it lives, TESSERA_SIM_ISA names this instruction set.
class ForcedIsa {
public:
    explicit ForcedIsa(const char* isa) { setenv("TESSERA_SIM_ISA", isa, 1); }
    ~ForcedIsa() { unsetenv("TESSERA_SIM_ISA"); }
    ForcedIsa(const ForcedIsa&) = delete;
    ForcedIsa& operator=(const ForcedIsa&) = delete;
};

}  // namespace tessera::sim::testing
