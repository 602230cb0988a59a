// partial_timing.cpp - the fast engines: one driver (engine/replay.h), without and with the clock.
#include "engine/replay.h"

#include "engine/outcome.h"

namespace tessera::sim {
namespace {

class Replayed final : public Engine {
public:
    explicit Replayed(bool with_clock) : with_clock_(with_clock) {}
    bool has_runtime() const override { return with_clock_; }
    size_t most_layouts() const override { return max_lanes; }
    std::vector<CellCounts> run_cells(const CellsRequest& request) override { return replay(request, with_clock_); }

private:
    bool with_clock_;
};

const Registration partial({"partial", "H, M and C; up to 64 layouts in one pass; same counts as reference",
                            [] { return std::make_unique<Replayed>(false); }});
const Registration timing({"timing", "H, M, C and R; up to 64 layouts in one pass; out-of-order window model in the timed parts",
                           [] { return std::make_unique<Replayed>(true); }});

}  // namespace
}  // namespace tessera::sim
