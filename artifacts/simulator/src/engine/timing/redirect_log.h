// redirect_log.h - the mispredicted branches of one frame, kept for the clocks that read the same frame one after the other.
//
// Branches are the same in every layout, so the first clock predicts them and the others read what it found. Clocks that
// share a log make the same calls between begin_frame() and the end of the frame.
#pragma once

#include "branch/redirects.h"
#include "engine/frame_log.h"
#include "engine/functional.h"

namespace tessera::sim::timing {

class RedirectLog : public FrameLog<std::vector<uint8_t>> {
public:
    RedirectLog(const Platform& platform, const std::vector<trace::StaticBlock>& blocks) : redirects_(platform, blocks) {}

    /// False: no branch is ever mispredicted.
    bool exist() const { return redirects_.exist(); }

    /// For each execution of the chunk, whether the branch before it was mispredicted. pre: exist().
    const std::vector<uint8_t>& next(const Chunk& chunk) {
        return FrameLog::next([&](std::vector<uint8_t>& fresh) {
            fresh.resize(chunk.executions);
            for (size_t e = 0; e < chunk.executions; ++e) fresh[e] = redirects_.enter(chunk.block_ids[e]);
        });
    }

    /// The block that is entered next does not follow the last one. (Known chunks behind this have been entered so already.)
    void forget() {
        if (is_new()) redirects_.forget();
    }

private:
    Redirects redirects_;  ///< predictors keep what they learnt in earlier frames
};

}  // namespace tessera::sim::timing
