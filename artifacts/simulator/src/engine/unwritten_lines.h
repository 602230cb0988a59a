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
#include <span>
#include <utility>
#include <vector>

namespace tessera::sim {

class UnwrittenLines {
public:
    static constexpr size_t slots = 4096;

    /// The line comes from memory in `lanes`.
    void came(uint64_t line, uint64_t lanes) {
        Entry& first = first_[line % slots];
        if ((first.lanes & ~lanes) == 0 && more_of(line).empty()) return void(first = {line, lanes});  // always, with one lane
        if (more_.empty()) more_.resize(slots);
        std::vector<Entry>& more = more_[line % slots];
        first.lanes &= ~lanes;
        for (Entry& entry : more) entry.lanes &= ~lanes;
        if (first.line == line) return void(first.lanes |= lanes);
        for (Entry& entry : more)
            if (entry.line == line) return void(entry.lanes |= lanes);
        std::erase_if(more, [](const Entry& entry) { return entry.lanes == 0; });
        if (first.lanes == 0) first = {line, lanes};
        else more.push_back({line, lanes});
    }

    /// The line is written in all lanes. Returns those in which it had come from memory.
    uint64_t written(uint64_t line) {
        Entry& first = first_[line % slots];
        if (first.line == line) return std::exchange(first.lanes, 0);
        for (Entry& entry : more_of(line))
            if (entry.line == line) return std::exchange(entry.lanes, 0);
        return 0;
    }

    void clear() {
        first_.assign(slots, Entry{});
        for (std::vector<Entry>& slot : more_) slot.clear();
    }

private:
    struct Entry {
        uint64_t line = ~uint64_t{0}, lanes = 0;
    };
    std::span<Entry> more_of(uint64_t line) { return more_.empty() ? std::span<Entry>() : more_[line % slots]; }

    std::vector<Entry> first_ = std::vector<Entry>(slots);  ///< of each slot
    std::vector<std::vector<Entry>> more_;                  ///< of each slot; empty: no slot ever had a second one
};

}  // namespace tessera::sim
