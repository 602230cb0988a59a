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

/// The map that a launcher made; null if there is none, or not for this user.
mosalloc_pool_map* shared_map(const char* path) {
    if (path == nullptr) return nullptr;
    const long fd = sys::open(path, O_RDWR);
    if (sys::failed(fd)) return nullptr;
    struct stat status = {};
    const long known = sys::call(SYS_fstat, fd, reinterpret_cast<long>(&status));
    long at = -EINVAL;
    if (!sys::failed(known) && static_cast<uint64_t>(status.st_size) >= sizeof(mosalloc_pool_map))
        at = sys::mmap(0, sizeof(mosalloc_pool_map), PROT_READ | PROT_WRITE, MAP_SHARED, static_cast<int>(fd));
    sys::close(fd);
    return sys::failed(at) ? nullptr : reinterpret_cast<mosalloc_pool_map*>(at);
}

mosalloc_pool_map* started(mosalloc_pool_map* map) {
    // Does not clear the windows: the table is large, untouched pages use no memory, and the count says how many are valid.
    // What other programs wrote stays: they may have started before. So does the pid, by which a process claims the map.
    char* bytes = reinterpret_cast<char*>(map);
    constexpr size_t claim = offsetof(mosalloc_pool_map, state), others = offsetof(mosalloc_pool_map, other_programs);
    constexpr size_t rest = offsetof(mosalloc_pool_map, children), end = offsetof(mosalloc_pool_map, windows);
    memset(bytes + claim, 0, others - claim);
    memset(bytes + rest, 0, end - rest);
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
            Text(message, capacity)
                .add("pool map ")
                .add(path)
                .add(": cannot be written (errno ")
                .number(static_cast<uint64_t>(-at))
                .add(")");
            return nullptr;
        }
        auto* shared = reinterpret_cast<mosalloc_pool_map*>(at);
        if (owned_by_another(shared)) sys::munmap(static_cast<uint64_t>(at), sizeof *map);
        else map = shared;
    }
    return started(map);
}

Claim claim_map(const char* path) {
    mosalloc_pool_map* map = shared_map(path);
    if (map == nullptr) return Claim::free;
    uint64_t owner = 0;
    const uint64_t self = static_cast<uint64_t>(sys::getpid());
    const bool first = __atomic_compare_exchange_n(&map->pid, &owner, self, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    sys::munmap(reinterpret_cast<uint64_t>(map), sizeof *map);
    return first || owner == self ? Claim::free : Claim::taken;
}

void count_other_program(const char* path, const char* program) {
    mosalloc_pool_map* map = shared_map(path);
    if (map == nullptr) return;
    if (__atomic_fetch_add(&map->other_programs, 1, __ATOMIC_ACQ_REL) == 0)
        Text(map->other_program, sizeof map->other_program).add(program);
    sys::munmap(reinterpret_cast<uint64_t>(map), sizeof *map);
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
