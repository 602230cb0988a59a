#include "run/smaps.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace mosalloc::run {
namespace {

constexpr uint64_t kSmallPage = 4096;

constexpr struct {
    const char* format;
    uint64_t Area::* value;
} kFields[] = {
    {"KernelPageSize: %" SCNu64, &Area::kernel_page_bytes}, {"MMUPageSize: %" SCNu64, &Area::mmu_page_bytes},
    {"AnonHugePages: %" SCNu64, &Area::anon_huge_bytes},    {"ShmemPmdMapped: %" SCNu64, &Area::shmem_huge_bytes},
    {"FilePmdMapped: %" SCNu64, &Area::file_huge_bytes},    {"Rss: %" SCNu64, &Area::resident_bytes},
};

/// `start-end perms offset device inode name`, as proc(5) describes it.
bool read_header(const char* line, Area* out) {
    char access[5] = "";
    int name_at = 0;
    const int fields = sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &out->start, &out->end, access,
                              &out->file_offset, &out->inode, &name_at);
    if (fields < 2) return false;
    out->accessible = strncmp(access, "---", 3) != 0;
    out->shared = access[0] != 0 && access[3] == 's';
    if (name_at > 0) out->name = std::string(line + name_at, strcspn(line + name_at, "\n"));
    return true;
}

uint64_t overlap(uint64_t a_start, uint64_t a_end, uint64_t b_start, uint64_t b_end) {
    const uint64_t start = std::max(a_start, b_start), end = std::min(a_end, b_end);
    return end > start ? end - start : 0;
}

/// Bytes of an area outside both pools with other pages than 4KB.
uint64_t huge_outside(const mosalloc_pool_map& map, const Area& a) {
    uint64_t small = a.end - a.start;
    for (const mosalloc_pool& pool : map.pools) small -= overlap(a.start, a.end, pool.base, pool.base + pool.size_bytes);
    if (a.kernel_page_bytes > kSmallPage || a.mmu_page_bytes > kSmallPage) return small;
    // Their place in the area is unknown; in an area that is partly in a pool, they count there.
    return small == a.end - a.start ? a.anon_huge_bytes + a.shmem_huge_bytes + a.file_huge_bytes : 0;
}

/// Bytes of [start, end) outside all windows of its pool that are backed with huge pages.
uint64_t outside_windows(const mosalloc_pool_map& map, const mosalloc_pool& pool, uint64_t start, uint64_t end) {
    uint64_t bytes = overlap(start, end, pool.base, pool.base + pool.size_bytes);
    for (uint64_t i = 0; i < map.window_count; ++i) {
        const mosalloc_window& w = map.windows[i];
        if (w.pool_kind == pool.kind && w.mapped != 0) bytes -= overlap(start, end, pool.base + w.start_offset, pool.base + w.end_offset);
    }
    return bytes;
}

}  // namespace

bool Findings::confirmed() const {
    return anon_huge_bytes == 0 && wrong_page_bytes == 0 && outside_huge_bytes == 0 &&
           std::all_of(windows.begin(), windows.end(), [](const WindowFound& w) { return w.confirmed(); });
}

std::vector<Area> read_smaps(FILE* file) {
    std::vector<Area> areas;
    char line[8192];
    while (fgets(line, sizeof line, file) != nullptr) {
        uint64_t kilobytes;
        Area area;
        if (read_header(line, &area)) areas.push_back(area);
        else if (areas.empty()) continue;
        else
            for (const auto& field : kFields)
                if (sscanf(line, field.format, &kilobytes) == 1) areas.back().*field.value = kilobytes * 1024;
    }
    return areas;
}

bool has_pools(const mosalloc_pool_map& map, const std::vector<Area>& areas) {
    for (const mosalloc_pool& pool : map.pools) {
        uint64_t mapped = 0;
        for (const Area& a : areas) mapped += overlap(a.start, a.end, pool.base, pool.base + pool.size_bytes);
        if (mapped != pool.size_bytes) return false;
    }
    return true;
}

Findings compare(const mosalloc_pool_map& map, const std::vector<Area>& areas) {
    Findings found;
    for (uint64_t i = 0; i < map.window_count; ++i) {
        WindowFound w;
        w.asked = map.windows[i];
        const uint64_t base = map.pools[w.asked.pool_kind].base;
        for (const Area& a : areas) {
            const uint64_t bytes = overlap(a.start, a.end, base + w.asked.start_offset, base + w.asked.end_offset);
            if (bytes == 0) continue;
            const bool not_yet = map.on_demand != 0 && !a.accessible && a.resident_bytes == 0;
            if (not_yet) w.confirmed_bytes += bytes;
            if (not_yet) continue;
            const uint64_t page = std::min(a.kernel_page_bytes, a.mmu_page_bytes);
            w.smallest_page_bytes = w.smallest_page_bytes == 0 ? page : std::min(w.smallest_page_bytes, page);
            const bool as_asked = a.kernel_page_bytes == w.asked.page_bytes && a.mmu_page_bytes == w.asked.page_bytes;
            if (as_asked) w.confirmed_bytes += bytes;
        }
        found.windows.push_back(w);
    }
    for (const mosalloc_pool& pool : map.pools)
        for (const Area& a : areas) {
            const uint64_t small = outside_windows(map, pool, a.start, a.end);
            if (small == 0) continue;
            found.anon_huge_bytes += a.anon_huge_bytes + a.shmem_huge_bytes + a.file_huge_bytes;
            if (a.kernel_page_bytes != kSmallPage || a.mmu_page_bytes != kSmallPage) found.wrong_page_bytes += small;
        }
    for (const Area& a : areas) {
        const uint64_t bytes = huge_outside(map, a);
        if (bytes != 0 && found.outside_huge_bytes == 0) found.outside_huge_name = a.name;
        found.outside_huge_bytes += bytes;
    }
    return found;
}

}  // namespace mosalloc::run
