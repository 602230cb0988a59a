// predictor.h - the contract of a predictor of conditional branches.
//
// A predictor sees every branch of the plan's warm and timed parts once, in program order, with its outcome. It depends on
// nothing else: not on time, hits or the layout. So one predictor serves all layouts of a pass. Not modelled: wrong paths,
// updates that come late, several branches in a fetched line.
#pragma once

#include <cstdint>

#include "base/platform.h"
#include "base/registry.h"

namespace tessera::sim {

class Predictor {
public:
    virtual ~Predictor() = default;
    /// A conditional branch. Returns what was predicted, then learns that it was `taken`.
    virtual bool conditional(uint64_t pc, bool taken) = 0;
    /// Any other branch, for predictors whose history has them, too.
    virtual void unconditional(uint64_t pc, uint64_t target) = 0;
};

/// branch.predictor: name -> predictor. `perfect` is for BranchUnit: it means that no branch is predicted at all.
Registry<Predictor>& predictors();

}  // namespace tessera::sim
