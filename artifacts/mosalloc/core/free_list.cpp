#include "core/free_list.h"

#include <cstring>

namespace mosalloc {
namespace {

/// Neighbours hold more than kFew = 96 ranges together: 48 in the mean, except for the last one.
constexpr size_t most_chunks(size_t capacity) { return capacity / 48 + 4; }

template <class T>
T* cut(char** storage, size_t count) {
    T* at = reinterpret_cast<T*>(*storage);
    *storage += align_up(count * sizeof(T), sizeof(Range));
    return at;
}

template <class T>
void move(T* to, const T* from, size_t count) {
    memmove(static_cast<void*>(to), from, count * sizeof(T));
}

}  // namespace

size_t FreeList::storage_bytes(size_t capacity) {
    const size_t chunks = most_chunks(capacity);
    return chunks * (sizeof(Chunk) + 2 * sizeof(uint64_t) + 3 * sizeof(uint32_t)) + 8 * sizeof(Range);
}

void FreeList::init(void* storage, size_t capacity, uint64_t bytes) {
    char* at = static_cast<char*>(storage);
    const size_t chunks = most_chunks(capacity);
    storage_ = cut<Chunk>(&at, chunks);
    starts_ = cut<uint64_t>(&at, chunks);
    largest_ = cut<uint64_t>(&at, chunks);
    ids_ = cut<uint32_t>(&at, chunks);
    counts_ = cut<uint32_t>(&at, chunks);
    spare_ = cut<uint32_t>(&at, chunks);
    chunks_ = spares_ = fresh_ = count_ = 0;
    capacity_ = capacity;
    free_bytes_ = 0;
    if (bytes != 0) insert({0, 0}, {0, bytes});
}

const Range& FreeList::at(size_t i) const {
    size_t chunk = 0;
    for (; i >= counts_[chunk]; ++chunk) i -= counts_[chunk];
    return range_at({chunk, i});
}

bool FreeList::packed() const {
    for (size_t c = 0; c + 1 < chunks_; ++c)
        if (counts_[c] + counts_[c + 1] <= kFew) return false;
    return true;
}

FreeList::Place FreeList::first_ending_after(uint64_t offset) const {
    size_t low = 0, high = chunks_;  // the last chunk that starts at `offset` or below
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (starts_[middle] <= offset) low = middle + 1;
        else high = middle;
    }
    if (low == 0) return {0, 0};
    const Place chunk{low - 1, 0};
    const Range* ranges = &range_at(chunk);
    size_t first = 0, last = counts_[chunk.chunk];
    while (first < last) {
        const size_t middle = (first + last) / 2;
        if (ranges[middle].end > offset) last = middle;
        else first = middle + 1;
    }
    return first < counts_[chunk.chunk] ? Place{chunk.chunk, first} : Place{chunk.chunk + 1, 0};
}

void FreeList::refresh(size_t chunk) {
    const Range* ranges = &range_at({chunk, 0});
    uint64_t largest = 0;
    for (size_t i = 0; i < counts_[chunk]; ++i)
        if (largest < ranges[i].bytes()) largest = ranges[i].bytes();
    largest_[chunk] = largest;
    starts_[chunk] = ranges[0].start;
}

void FreeList::change(Place p, Range to) {
    Range& range = range_at(p);
    const uint64_t before = range.bytes();
    free_bytes_ += to.bytes() - before;
    range = to;
    if (p.index == 0) starts_[p.chunk] = to.start;
    if (to.bytes() >= largest_[p.chunk]) largest_[p.chunk] = to.bytes();
    else if (before == largest_[p.chunk]) refresh(p.chunk);
}

/// Makes an entry for a new, empty chunk.
void FreeList::open_directory(size_t at) {
    const size_t behind = chunks_++ - at;
    move(starts_ + at + 1, starts_ + at, behind);
    move(largest_ + at + 1, largest_ + at, behind);
    move(ids_ + at + 1, ids_ + at, behind);
    move(counts_ + at + 1, counts_ + at, behind);
    ids_[at] = spares_ != 0 ? spare_[--spares_] : static_cast<uint32_t>(fresh_++);
    counts_[at] = 0;
    largest_[at] = 0;
}

void FreeList::close_directory(size_t at) {
    spare_[spares_++] = ids_[at];
    const size_t behind = --chunks_ - at;
    move(starts_ + at, starts_ + at + 1, behind);
    move(largest_ + at, largest_ + at + 1, behind);
    move(ids_ + at, ids_ + at + 1, behind);
    move(counts_ + at, counts_ + at + 1, behind);
}

void FreeList::split_chunk(size_t chunk) {
    open_directory(chunk + 1);
    const size_t half = counts_[chunk] / 2;
    counts_[chunk + 1] = static_cast<uint32_t>(counts_[chunk] - half);
    move(&range_at({chunk + 1, 0}), &range_at({chunk, 0}) + half, counts_[chunk + 1]);
    counts_[chunk] = static_cast<uint32_t>(half);
    refresh(chunk);
    refresh(chunk + 1);
}

FreeList::Place FreeList::insert(Place before, Range range) {
    if (chunks_ == 0) open_directory(0);
    if (before.index == 0 && before.chunk > 0) before = {before.chunk - 1, counts_[before.chunk - 1]};
    if (counts_[before.chunk] == kMost) {
        split_chunk(before.chunk);
        if (before.index > counts_[before.chunk]) before = {before.chunk + 1, before.index - counts_[before.chunk]};
    }
    Range* ranges = &range_at({before.chunk, 0});
    move(ranges + before.index + 1, ranges + before.index, counts_[before.chunk] - before.index);
    ranges[before.index] = range;
    ++counts_[before.chunk];
    ++count_;
    free_bytes_ += range.bytes();
    if (before.index == 0) starts_[before.chunk] = range.start;
    if (largest_[before.chunk] < range.bytes()) largest_[before.chunk] = range.bytes();
    return before;
}

/// Returns the place of the next range. A chunk may become empty: `tidy` follows.
FreeList::Place FreeList::erase(Place p) {
    Range* ranges = &range_at({p.chunk, 0});
    const uint64_t bytes = ranges[p.index].bytes();
    move(ranges + p.index, ranges + p.index + 1, --counts_[p.chunk] - p.index);
    --count_;
    free_bytes_ -= bytes;
    if (counts_[p.chunk] == 0) {
        close_directory(p.chunk);
        return {p.chunk, 0};
    }
    if (bytes == largest_[p.chunk] || p.index == 0) refresh(p.chunk);
    return p.index < counts_[p.chunk] ? p : Place{p.chunk + 1, 0};
}

void FreeList::append_next(size_t chunk) {
    move(&range_at({chunk, 0}) + counts_[chunk], &range_at({chunk + 1, 0}), counts_[chunk + 1]);
    counts_[chunk] += counts_[chunk + 1];
    if (largest_[chunk] < largest_[chunk + 1]) largest_[chunk] = largest_[chunk + 1];
    close_directory(chunk + 1);
}

/// Keeps neighbours from being small together after ranges from `chunk` on were erased: it may have lost its end, and the
/// next chunk its beginning.
void FreeList::tidy(size_t chunk) {
    for (size_t c = chunk == 0 ? 0 : chunk - 1; c <= chunk + 1 && c + 1 < chunks_;) {
        if (counts_[c] + counts_[c + 1] <= kFew) append_next(c);
        else ++c;
    }
}

bool FreeList::fits(uint64_t bytes) const {
    size_t chunk = 0;
    while (chunk < chunks_ && largest_[chunk] < bytes) ++chunk;
    return chunk < chunks_;
}

bool FreeList::take_first_fit(uint64_t bytes, uint64_t* start) {
    size_t chunk = 0;
    while (chunk < chunks_ && largest_[chunk] < bytes) ++chunk;
    if (chunk == chunks_) return false;
    Place p{chunk, 0};
    while (range_at(p).bytes() < bytes) ++p.index;
    const Range found = range_at(p);
    *start = found.start;
    if (found.bytes() > bytes) change(p, {found.start + bytes, found.end});
    else erase(p), tidy(chunk);
    return true;
}

void FreeList::take(Range range) {
    Place p = first_ending_after(range.start);
    const size_t chunk = p.chunk;
    bool erased = false;
    while (!ends(p) && range_at(p).start < range.end) {
        const Range found = range_at(p), left{found.start, range.start}, right{range.end, found.end};
        if (!left.empty() && !right.empty()) {
            change(p, left);
            insert(after(p), right);
            return;
        }
        if (left.empty() && right.empty()) {
            p = erase(p);
            erased = true;
            continue;
        }
        change(p, left.empty() ? right : left);
        p = after(p);
    }
    if (erased) tidy(chunk);
}

void FreeList::give(Range range) {
    if (range.empty()) return;
    // A range that ends exactly at the start touches the new range, so search from one byte below.
    const Place p = first_ending_after(range.start == 0 ? 0 : range.start - 1);
    if (ends(p) || range_at(p).start > range.end) {
        insert(p, range);
        return;
    }
    Range whole = range_at(p);
    if (range.start < whole.start) whole.start = range.start;
    if (range.end > whole.end) whole.end = range.end;
    bool erased = false;
    for (Place next = after(p); !ends(next) && range_at(next).start <= whole.end; erased = true) {
        if (range_at(next).end > whole.end) whole.end = range_at(next).end;
        next = erase(next);
    }
    change(p, whole);
    if (erased) tidy(p.chunk);
}

bool FreeList::is_free(Range range) const {
    const Place p = first_ending_after(range.start);
    return !ends(p) && range_at(p).contains(range);
}

bool FreeList::is_taken(Range range) const {
    const Place p = first_ending_after(range.start);
    return ends(p) || range_at(p).start >= range.end;
}

}  // namespace mosalloc
