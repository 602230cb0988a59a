// unwritten_lines.h - the lines that came from memory and have not been written since: which stores cause a write-back.
//
// With cache.write_backs, the first store to a line from memory books a second transfer of it. Hardware makes this transfer later,
// when L3 drops the line, and only once however often it was written. Where as many lines leave L3 as enter it, the rate is the same. The
// table has 4096 slots, direct mapped by physical line, and no cache state: a line that another one of its slot replaces
// before it is written causes no transfer. Each lane is a layout, and none sees what another does: a slot holds one line a
// lane, so a few lines with disjoint lanes. The reference core has one lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::sim {

class UnwrittenLines {
public:
    static constexpr size_t slots = 4096;

    /// The line comes from memory in `lanes`.
    void came(uint64_t line, uint64_t lanes) {
        std::vector<Entry>& slot = slots_[line % slots];
        for (Entry& entry : slot) entry.lanes &= ~lanes;
        for (Entry& entry : slot)
            if (entry.line == line) return void(entry.lanes |= lanes);
        std::erase_if(slot, [](const Entry& entry) { return entry.lanes == 0; });
        slot.push_back({line, lanes});
    }

    /// The line is written in all lanes. Returns those in which it had come from memory.
    uint64_t written(uint64_t line) {
        for (Entry& entry : slots_[line % slots]) {
            if (entry.line != line) continue;
            const uint64_t lanes = entry.lanes;
            entry.lanes = 0;
            return lanes;
        }
        return 0;
    }

    void clear() {
        for (std::vector<Entry>& slot : slots_) slot.clear();
    }

private:
    struct Entry {
        uint64_t line, lanes;
    };
    std::vector<std::vector<Entry>> slots_ = std::vector<std::vector<Entry>>(slots);
};

}  // namespace tessera::sim
