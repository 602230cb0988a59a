#include "spans.h"

#include <algorithm>

namespace tessera::trace::cli {

std::vector<Span> spans_of_pages(const std::set<uint64_t>& page_numbers) {
    std::vector<Span> spans;
    for (const uint64_t page : page_numbers) {
        const uint64_t begin = page << 12;
        if (begin >= address_limit) break;  // no program's memory: no pool
        if (spans.empty() || begin - spans.back().end > one_gigabyte) spans.push_back({begin, begin, 0});
        spans.back().end = begin + 4096;
        ++spans.back().pages;
    }
    return spans;
}

Pool pool_over(PoolKind kind, uint64_t begin, uint64_t end) {
    const uint64_t base = begin / one_gigabyte * one_gigabyte;
    const uint64_t size = (end - base + one_gigabyte - 1) / one_gigabyte * one_gigabyte;
    return {kind, base, size, end - base};
}

std::vector<Pool> default_pools(const std::vector<Span>& spans) {
    const auto largest = std::max_element(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.pages < b.pages; });
    if (largest == spans.end()) return {};
    const Pool anon = pool_over(PoolKind::anon, largest->begin, largest->end);
    if (largest == spans.begin()) return {anon};
    const Span& below = largest[-1];
    const Pool heap = pool_over(PoolKind::heap, below.begin, below.end);
    // Rounding up to 1GB may make neighbours touch; pools must not overlap.
    if (heap.base + heap.size_bytes > anon.base) return {anon};
    return {heap, anon};
}

}  // namespace tessera::trace::cli
