// masked_probe.h - engine/lanes/masked_hierarchy.h built for each instruction set, behind one plain interface.
//
// The header has no callers' instruction set: tests and the benchmark need all of its builds in one program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tessera::sim::testing {

struct ProbeShape {
    uint64_t sets;
    unsigned ways;
    unsigned slices = 0;
};
struct ProbeConfig {
    ProbeShape l1d, l2, l3;
    bool walker_pollutes = true;
};

enum class ProbeKind : uint32_t { program, walker, prefetch_l1d, prefetch_l2 };

struct ProbeReference {
    uint64_t line, lanes;
    ProbeKind kind;
};
struct ProbeAnswer {
    uint64_t l1d_missed, l2_missed, l3_missed;
    bool operator==(const ProbeAnswer&) const = default;
};

class MaskedProbe {
public:
    virtual ~MaskedProbe() = default;
    /// One answer a reference.
    virtual void replay(const ProbeReference* references, size_t count, ProbeAnswer* answers) = 0;
    /// Longest and mean list of a level (0: L1D) where walker loads enter.
    virtual unsigned longest_list(unsigned level) const = 0;
    virtual double mean_list(unsigned level) const = 0;
    /// The byte by which a set finds a line.
    virtual uint8_t name(uint64_t line) const = 0;
};

/// isa: avx512, avx2 or baseline. Null where this processor cannot run it.
std::unique_ptr<MaskedProbe> make_masked_probe(const std::string& isa, const ProbeConfig& config);
inline const std::vector<std::string> probe_isas = {"baseline", "avx2", "avx512"};

}  // namespace tessera::sim::testing
