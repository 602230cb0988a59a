// start.cpp - libtessera-roi.so, which the launcher preloads: connects the program to its counters before it runs.
//
// Nothing happens unless TESSERA_ROI_FDS is set. The program itself is not built for counting: its markers are NOPs, and
// the same file is traced. So this library turns each marker into a jump, before any code of the program runs.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "hook/control.h"
#include "hook/markers.h"
#include "tessera/common/system_calls.h"
#include "mosalloc/pool_map.h"

namespace tessera::counters {
namespace {

/// True if libmosalloc started in this process and gave it the layout. Its constructor runs before this one, because the
/// launcher names this library first, and the dynamic linker goes from the last to the first.
bool has_the_layout() {
    const char* path = getenv("MOSALLOC_POOL_MAP");
    const int file = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    uint64_t head[3] = {};  // magic, pid, state
    static_assert(offsetof(mosalloc_pool_map, pid) == 8 && offsetof(mosalloc_pool_map, state) == 16, "the head of the pool map");
    const bool read_whole = pread(file, head, sizeof head, 0) == static_cast<ssize_t>(sizeof head);
    close(file);
    return read_whole && head[0] == MOSALLOC_POOL_MAP_MAGIC && head[1] == static_cast<uint64_t>(getpid()) && head[2] == 1;
}

__attribute__((constructor)) void start() {
    const char* text = getenv(kRegionVariable);
    if (text == nullptr) return;
    char kind[16] = "";
    int descriptor = -1, first = -1, count = 0, length = 0;
    if (sscanf(text, "%15[a-z],%d,%d,%d%n", kind, &descriptor, &first, &count, &length) != 4 || text[length] != 0 || count < 1) return;
    const long at = sys::mmap(0, sizeof(RegionPage), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor);
    if (sys::failed(at)) return;
    RegionPage* page = reinterpret_cast<RegionPage*>(at);
    if (page->magic != kRegionMagic) {
        sys::munmap(static_cast<uint64_t>(at), sizeof(RegionPage));
        return;
    }
    control() = {page, first, count};
    __atomic_add_fetch(&page->loaded, 1, __ATOMIC_RELAXED);
    if (strcmp(kind, "roi") == 0) patch_markers(page);
    if (strcmp(kind, "program") == 0 && has_the_layout()) begin_region();
}

}  // namespace
}  // namespace tessera::counters
