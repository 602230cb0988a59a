#include "core/page_states.h"

#include <cstring>

#include "core/table.h"

namespace mosalloc {

bool PageStates::init(uint64_t base, uint64_t bytes) {
    base_ = base;
    bytes_ = bytes;
    unforked_ = {};
    states_ = static_cast<uint8_t*>(make_table(bytes / kPage4K));
    return states_ != nullptr;
}

uint64_t PageStates::first_hole(Range range) const {
    for (uint64_t offset = range.start; offset < range.end; offset += kPage4K)
        if (!used_at(offset)) return offset;
    return range.end;
}

bool PageStates::any(Range range, uint8_t flags) const {
    uint8_t all = 0;
    const uint8_t* s = states_ + range.start / kPage4K;
    const size_t count = range.bytes() / kPage4K;
    for (size_t i = 0; i < count; ++i) all |= s[i];
    return (all & flags) != 0;
}

int PageStates::protection_of_used(Range range) const {
    uint8_t all = 0;
    const uint8_t* s = states_ + range.start / kPage4K;
    const size_t count = range.bytes() / kPage4K;
    for (size_t i = 0; i < count; ++i) all |= (s[i] & kUsed) != 0 ? s[i] : 0;
    return (all & kUsed) != 0 ? all & kProtMask : -1;
}

void PageStates::set(Range range, uint8_t state) { memset(states_ + range.start / kPage4K, state, range.bytes() / kPage4K); }

void PageStates::change(Range range, uint8_t kept, uint8_t more) {
    uint8_t* s = states_ + range.start / kPage4K;
    const size_t count = range.bytes() / kPage4K;
    for (size_t i = 0; i < count; ++i) s[i] = static_cast<uint8_t>((s[i] & kept) | more);
}

void PageStates::mark_unforked(Range range, bool set) {
    change(range, static_cast<uint8_t>(~kUnforked), set ? kUnforked | kOdd : 0);
    if (set) extend_unforked(range);
}

void PageStates::extend_unforked(Range range) {
    if (unforked_.empty()) unforked_ = range;
    if (range.start < unforked_.start) unforked_.start = range.start;
    if (range.end > unforked_.end) unforked_.end = range.end;
}

void PageStates::mark_dirty(Range range) {
    static_assert(kDirty == kUsed << 1, "one operation for all states");
    uint8_t* s = states_ + range.start / kPage4K;
    const size_t count = range.bytes() / kPage4K;
    for (size_t i = 0; i < count; ++i) s[i] = static_cast<uint8_t>(s[i] | (s[i] & kUsed) << 1);
}

void PageStates::copy(Range range, const PageStates& from, Range source) {
    uint64_t offset = source.start;
    for (uint64_t to = range.start; to < range.end; to += kPage4K) {
        const uint8_t keep = at(to) & kDirty;
        states_[to / kPage4K] = static_cast<uint8_t>(keep | (from.at(offset) & ~kDirty));
        if (offset + kPage4K < source.end) offset += kPage4K;
    }
    if (any(range, kUnforked)) extend_unforked(range);
}

}  // namespace mosalloc
