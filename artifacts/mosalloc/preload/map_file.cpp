#include "preload/map_file.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/stat.h>

#include "core/sys.h"
#include "core/text.h"

namespace mosalloc {
namespace {

mosalloc_pool_map g_private;

bool owned_by_another(const mosalloc_pool_map* map) {
    const long owner = static_cast<long>(map->pid);
    return map->magic == MOSALLOC_POOL_MAP_MAGIC && map->state == 1 && owner != sys::getpid() &&
           !sys::failed(sys::call(SYS_kill, owner, 0));
}

bool owned_by_another_user(const char* path) {
    struct stat status = {};
    return !sys::failed(sys::call(SYS_stat, reinterpret_cast<long>(path), reinterpret_cast<long>(&status))) &&
           status.st_uid != static_cast<uid_t>(sys::call(SYS_geteuid));
}

mosalloc_pool_map* started(mosalloc_pool_map* map) {
    // Does not clear the windows: the table is large, untouched pages use no memory, and the count says how many are valid.
    memset(static_cast<void*>(map), 0, offsetof(mosalloc_pool_map, windows));
    map->pid = static_cast<uint64_t>(sys::getpid());
    map->magic = MOSALLOC_POOL_MAP_MAGIC;
    return map;
}

}  // namespace

mosalloc_pool_map* open_map(const char* path, char* message, size_t capacity) {
    auto* map = &g_private;
    if (path != nullptr) {
        const long fd = sys::open(path, O_RDWR | O_CREAT, 0644);
        long at = fd;
        // Makes the file large enough, but does not write yet: a living process may own the file.
        if (!sys::failed(at)) at = sys::ftruncate(fd, sizeof *map);
        if (!sys::failed(at)) at = sys::mmap(0, sizeof *map, PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<int>(fd));
        if (!sys::failed(fd)) sys::close(fd);
        // A daemon that dropped its privileges and executed itself again: the map belongs to its parent.
        if (at == -EACCES && owned_by_another_user(path)) return started(map);
        if (sys::failed(at)) {
            Text(message, capacity).add("pool map ").add(path).add(": cannot be written (errno ")
                .number(static_cast<uint64_t>(-at)).add(")");
            return nullptr;
        }
        auto* shared = reinterpret_cast<mosalloc_pool_map*>(at);
        if (owned_by_another(shared)) sys::munmap(static_cast<uint64_t>(at), sizeof *map);
        else map = shared;
    }
    return started(map);
}

mosalloc_pool_map* private_copy(const mosalloc_pool_map* map) {
    const size_t used = offsetof(mosalloc_pool_map, windows) + map->window_count * sizeof map->windows[0];
    if (map != &g_private) memcpy(static_cast<void*>(&g_private), map, used);
    g_private.pid = static_cast<uint64_t>(sys::getpid());
    return &g_private;
}

void mark_refused(mosalloc_pool_map* map, const char* reason) {
    if (map == nullptr) return;
    Text(map->error, sizeof map->error).add(reason);
    __atomic_store_n(&map->state, 2, __ATOMIC_RELEASE);
}

}  // namespace mosalloc
