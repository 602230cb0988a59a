// string_hold.h - how long the lines of string instructions and of the kernel's copies hold dispatch.
//
// core.string.page_cycles are for 64 lines, 4KB. They are spread evenly over the lines of an instruction: after n lines,
// n x page_cycles / 64 cycles have passed, rounded down. Its beginning takes core.string.begin_cycles more. The same in all layouts.
#pragma once

#include "base/platform.h"
#include "tessera/trace/trace.h"

namespace tessera::sim {

inline constexpr uint64_t lines_of_4kb = 64;

class StringHold {
public:
    explicit StringHold(const StringCosts& costs) : costs_(costs) {}

    /// The least that this part ever holds; next() is this or a cycle more.
    uint64_t least(trace::StringPart part) const {
        if (part == trace::StringPart::none) return 0;
        return costs_.page_cycles / lines_of_4kb + (part == trace::StringPart::begin ? costs_.begin_cycles : 0);
    }
    /// Of the next instruction in program order, in cycles.
    uint64_t next(trace::StringPart part) {
        if (part == trace::StringPart::none) return 0;
        if (part == trace::StringPart::begin) line_ = 0;
        const uint64_t before = line_++ * costs_.page_cycles / lines_of_4kb;
        return line_ * costs_.page_cycles / lines_of_4kb - before + (part == trace::StringPart::begin ? costs_.begin_cycles : 0);
    }
    void reset() { line_ = 0; }

private:
    StringCosts costs_;
    uint64_t line_ = 0;
};

}  // namespace tessera::sim
