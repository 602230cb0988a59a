#include "core/table.h"

#include "core/sys.h"

namespace mosalloc {
namespace {
constexpr size_t kMost = 64;
Range g_tables[kMost];
size_t g_count = 0;
}  // namespace

void* make_table(uint64_t bytes) {
    const uint64_t size = align_up(bytes == 0 ? 1 : bytes, kPage4K);
    const long at = sys::mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (sys::failed(at)) return nullptr;
    const uint64_t start = static_cast<uint64_t>(at);
    sys::madvise(start, size, MADV_NOHUGEPAGE);  // a transparent huge page for a few bytes of states
    if (g_count < kMost) g_tables[g_count++] = {start, start + size};
    return reinterpret_cast<void*>(at);
}

void drop_table(void* table, uint64_t bytes) {
    const uint64_t start = reinterpret_cast<uint64_t>(table);
    sys::munmap(start, align_up(bytes == 0 ? 1 : bytes, kPage4K));
    for (size_t i = 0; i < g_count; ++i)
        if (g_tables[i].start == start) g_tables[i] = g_tables[--g_count];
}

size_t table_count() { return g_count; }
Range table_at(size_t i) { return g_tables[i]; }

}  // namespace mosalloc
