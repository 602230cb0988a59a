// registries.cpp - the registry of this folder's predictors, and the predictor `perfect`.
#include "branch/predictor.h"

namespace tessera::sim {
namespace {

class Perfect final : public Predictor {
public:
    bool conditional(uint64_t, bool taken) override { return taken; }
    void unconditional(uint64_t, uint64_t) override {}
};

}  // namespace

Registry<Predictor>& predictors() {
    static Registry<Predictor> registry("branch predictor");
    return registry;
}

namespace {

const Registered row(predictors(), "perfect", "is always right, as is every other branch then", [] { return std::make_unique<Perfect>(); });

}  // namespace
}  // namespace tessera::sim
