// masked_probe_build.cpp - one build of the probe; CMakeLists.txt sets TESSERA_ISA and the compiler's flags.
#include "engine/lanes/masked_hierarchy.h"
#include "support/masked_probe.h"

namespace tessera::sim::testing {
namespace {

using namespace lanes::TESSERA_ISA;

class Probe final : public MaskedProbe {
public:
    explicit Probe(const ProbeConfig& c)
        : hierarchy_({{c.l1d.sets, c.l1d.ways}, {c.l2.sets, c.l2.ways}, {c.l3.sets, c.l3.ways, c.l3.slices}, c.walker_pollutes}) {}

    void replay(const ProbeReference* references, size_t count, ProbeAnswer* answers) override {
        for (size_t i = 0; i < count; ++i) {
            if (i + heads_ahead < count) hierarchy_.fetch_heads(references[i + heads_ahead].line);
            if (i + entries_ahead < count) hierarchy_.fetch_entries(references[i + entries_ahead].line);
            const LevelMasks m = one(references[i]);
            answers[i] = {m.l1d_missed, m.l2_missed, m.l3_missed};
        }
    }
    unsigned longest_list(unsigned level) const override {
        const MaskedCache& cache = hierarchy_.mixed().level(level);
        unsigned longest = 0;
        for (uint64_t set = 0; set < cache.sets(); ++set)
            if (const unsigned n = cache.entries(set); n > longest) longest = n;
        return longest;
    }
    double mean_list(unsigned level) const override {
        const MaskedCache& cache = hierarchy_.mixed().level(level);
        double entries = 0, touched = 0;
        for (uint64_t set = 0; set < cache.sets(); ++set)
            if (const unsigned n = cache.entries(set)) entries += n, ++touched;
        return touched == 0 ? 0 : entries / touched;
    }

    uint8_t name(uint64_t line) const override { return name_of(line); }

private:
    static constexpr size_t heads_ahead = 48, entries_ahead = 24;

    LevelMasks one(const ProbeReference& r) {
        switch (r.kind) {
            case ProbeKind::program: return hierarchy_.program(r.line, r.lanes);
            case ProbeKind::walker: return hierarchy_.walker(r.line, r.lanes);
            case ProbeKind::prefetch_l1d: return hierarchy_.prefetch_l1d(r.line, r.lanes);
            case ProbeKind::prefetch_l2: break;
        }
        return hierarchy_.prefetch_l2(r.line, r.lanes);
    }
    MaskedHierarchy hierarchy_;
};

}  // namespace

#define PROBE_MAKER2(isa) make_##isa
#define PROBE_MAKER(isa) PROBE_MAKER2(isa)
MaskedProbe* PROBE_MAKER(TESSERA_ISA)(const ProbeConfig& config) { return new Probe(config); }

}  // namespace tessera::sim::testing
