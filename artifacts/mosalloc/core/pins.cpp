#include "core/pins.h"

#include <cerrno>
#include <cstring>

#include "core/lines.h"
#include "core/numbers.h"
#include "core/sys.h"
#include "core/text.h"
#include "mosalloc/pool_map.h"

namespace mosalloc {
namespace {

constexpr char kRing[] = "anon_inode:[io_uring]";
constexpr char kAio[] = "/[aio]";

long g_seen = 0;  ///< long-term kinds

bool ends_with(const char* text, const char* end) {
    const size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && memcmp(text + length - wanted, end, wanted) == 0;
}

long pinned_memory() {
    bool pinned = false;
    const long result = for_each_line("/proc/self/status", [&](const char* line) {
        if (strncmp(line, "VmPin:", 6) != 0) return;
        for (const char* c = line + 6; *c != 0; ++c) pinned |= *c >= '1' && *c <= '9';
    });
    return sys::failed(result) ? result : pinned ? MOSALLOC_PIN_MEMORY : 0;
}

long mapped_rings() {
    long found = 0;
    const long result = for_each_line("/proc/self/maps", [&](const char* line) {
        if (ends_with(line, kRing)) found |= MOSALLOC_PIN_IO_URING;
        if (strstr(line, kAio) != nullptr) found |= MOSALLOC_PIN_AIO;
    });
    return sys::failed(result) ? result : found;
}

long by_descriptor(const char* name, uint64_t number) {
    char path[64], link[64];
    const long flags = sys::call(SYS_fcntl, static_cast<long>(number), F_GETFL);
    long found = !sys::failed(flags) && (flags & O_DIRECT) != 0 ? MOSALLOC_PIN_DIRECT : 0;
    Text(path).add("/proc/self/fd/").add(name);
    const long length = sys::readlink(path, link, sizeof link - 1);
    link[length < 0 ? 0 : length] = 0;
    if (same_text(link, kRing)) found |= MOSALLOC_PIN_IO_URING;
    return found;
}

long descriptors() {
    long found = 0;
    const long result = for_each_number("/proc/self/fd", [&](const char* name, uint64_t number) {
        found |= by_descriptor(name, number);
        return true;
    });
    return sys::failed(result) ? result : found;
}

}  // namespace

long what_pins(bool others) {
    if (g_seen != 0) return g_seen;
    long found = 0;
    long (*const looks[])() = {pinned_memory, mapped_rings, descriptors};
    for (const auto look : looks) {
        const long result = look();
        if (sys::failed(result)) return result;
        found |= result;
    }
    g_seen |= found & ~MOSALLOC_PIN_DIRECT;
    return others ? found : g_seen;
}

void note_pin(long kind) { g_seen |= kind; }

}  // namespace mosalloc
