#include "core/window_list.h"

#include <cstring>

#include "core/sys.h"
#include "core/table.h"
#include "mosalloc/pool_map.h"

namespace mosalloc {
namespace {
constexpr size_t kCapacity = 4 * MOSALLOC_MAX_WINDOWS;  // costs memory only as far as it is used
}

bool WindowList::init() {
    count_ = 0;
    windows_ = static_cast<Window*>(make_table(kCapacity * sizeof(Window)));
    return windows_ != nullptr;
}

size_t WindowList::first_after(uint64_t offset) const {
    size_t low = 0, high = count_;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (windows_[middle].range.end > offset) high = middle;
        else low = middle + 1;
    }
    return low;
}

bool WindowList::touches(Range range) const {
    const size_t next = first_after(range.start);
    return next < count_ && windows_[next].range.start < range.end;
}

Range WindowList::page_around(uint64_t offset) const {
    const size_t i = first_after(offset);
    if (i == count_ || windows_[i].range.start > offset) return {};
    const uint64_t start = align_down(offset, windows_[i].page_bytes);
    return {start, start + windows_[i].page_bytes};
}

bool WindowList::has_room() const { return count_ < kCapacity; }

void WindowList::cut(Range page) {
    const size_t i = first_after(page.start);
    const Window whole = windows_[i];
    Window rest[2];
    size_t rests = 0;
    if (whole.range.start < page.start) rest[rests++] = {{whole.range.start, page.start}, whole.page_bytes, 0};
    if (page.end < whole.range.end) rest[rests++] = {{page.end, whole.range.end}, whole.page_bytes, 0};
    memmove(static_cast<void*>(windows_ + i + rests), windows_ + i + 1, (count_ - i - 1) * sizeof(Window));
    for (size_t k = 0; k < rests; ++k) windows_[i + k] = rest[k];
    count_ += rests;
    --count_;
}

}  // namespace mosalloc
