// redirect_log.h - the mispredicted branches of one frame, kept for the clocks that read the same frame one after the other.
//
// Branches are the same in every layout, so the first clock predicts them and the others read what it found. Clocks that
// share a log make the same calls between begin_frame() and the end of the frame.
#pragma once

#include <deque>

#include "branch/redirects.h"
#include "engine/functional.h"

namespace tessera::sim::timing {

class RedirectLog {
public:
    RedirectLog(const Platform& platform, const std::vector<trace::StaticBlock>& blocks) : redirects_(platform, blocks) {}

    /// False: no branch is ever mispredicted.
    bool exist() const { return redirects_.exist(); }

    /// Forgets the chunks, not the predictors: the chunks that follow are new.
    void begin_frame() { known_ = at_ = 0; }
    /// Another clock begins with the first chunk of the frame.
    void rewind() { at_ = 0; }

    /// For each execution of the chunk, whether the branch before it was mispredicted. pre: exist().
    const std::vector<uint8_t>& next(const Chunk& chunk) {
        if (at_ == known_) {
            if (known_ == entries_.size()) entries_.emplace_back();
            std::vector<uint8_t>& fresh = entries_[known_++];
            fresh.resize(chunk.executions);
            for (size_t e = 0; e < chunk.executions; ++e) fresh[e] = redirects_.enter(chunk.block_ids[e]);
        }
        return entries_[at_++];
    }

    /// The block that is entered next does not follow the last one. (Known chunks behind this have been entered so already.)
    void forget() {
        if (at_ == known_) redirects_.forget();
    }

private:
    Redirects redirects_;
    std::deque<std::vector<uint8_t>> entries_;  ///< of earlier frames beyond known_, for their memory
    size_t known_ = 0, at_ = 0;
};

}  // namespace tessera::sim::timing
