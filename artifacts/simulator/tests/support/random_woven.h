// random_woven.h - a random program under a random log (support/random_log.h), with the small templates woven in.
#pragma once

#include "engine/weave/woven_stream.h"
#include "support/random_log.h"
#include "support/woven.h"

namespace tessera::sim::testing {

struct RandomWoven {
    RandomWoven(uint64_t seed, size_t accesses)
        : log(seed),
          stream((log.make(accesses), log.stream())),
          layout(log.layout(stream.header())),
          woven(stream, weave::parse_templates(small_text, "t.txt"), "t.txt", layout.mapping) {}
    RandomWoven(const RandomWoven&) = delete;  // `woven` refers to `stream`

    RandomLog log;
    MemoryStream stream;
    Layout layout;
    weave::WovenStream woven;
};

}  // namespace tessera::sim::testing
