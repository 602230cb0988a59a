#include "run/outside.h"

#include <algorithm>
#include <sys/uio.h>

namespace mosalloc::run {
namespace {

uint64_t overlap(const Area& area, uint64_t start, uint64_t end) {
    start = std::max(start, area.start);
    end = std::min(end, area.end);
    return end > start ? end - start : 0;
}

bool in_pools(const mosalloc_pool_map& map, const Area& area) {
    for (const mosalloc_pool* pool : {&map.pools[MOSALLOC_POOL_HEAP], &map.pools[MOSALLOC_POOL_ANON], &map.file_pool})
        if (overlap(area, pool->base, pool->base + pool->size_bytes) != 0) return true;
    return false;
}

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

Outside classify(const mosalloc_pool_map& map, const std::vector<Area>& areas, const std::vector<Span>& passed) {
    Outside out;
    int libcs = 0;
    for (size_t i = 0; i < areas.size(); ++i) {
        const Area& area = areas[i];
        libcs += ends_with(area.name, "/libc.so.6") && area.file_offset == 0 ? 1 : 0;
        if (area.inode != 0 || in_pools(map, area)) continue;
        if (area.name == "[heap]") out.kernel_heap_bytes += area.resident_bytes;
        if (area.name == "[stack]") out.stack_bytes += area.resident_bytes;
        const bool named = !area.name.empty() && area.name.compare(0, 6, "[anon:") != 0;
        // Zero-initialised variables of a library or program follow the mapping of its file directly.
        const bool variables = i > 0 && areas[i - 1].end == area.start && areas[i - 1].inode != 0 && !areas[i - 1].shared;
        if (named || variables || area.resident_bytes == 0) continue;
        uint64_t seen = 0;
        for (const Span& span : passed) seen += overlap(area, span.start, span.end);
        const double unseen = 1.0 - static_cast<double>(seen) / static_cast<double>(area.end - area.start);
        out.anonymous_bytes += area.resident_bytes;
        out.unseen_bytes += static_cast<uint64_t>(unseen * static_cast<double>(area.resident_bytes));
    }
    out.second_libc = libcs > 1;
    return out;
}

std::vector<Span> read_passed(int pid, const mosalloc_pool_map& map) {
    std::vector<Span> spans(std::min<uint64_t>(map.outside_count, 1 << 16));
    if (spans.empty()) return spans;
    const iovec here = {spans.data(), spans.size() * sizeof(Span)};
    const iovec there = {reinterpret_cast<void*>(map.outside_address), here.iov_len};
    if (process_vm_readv(pid, &here, 1, &there, 1, 0) != static_cast<ssize_t>(here.iov_len)) spans.clear();
    return spans;
}

}  // namespace mosalloc::run
