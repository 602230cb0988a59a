// events.cpp - the areas that exist when the library starts, from /proc/self/maps. Only in libmosalloc-events.so.
#include "preload/events.h"

#include <cstring>

#include "core/lines.h"
#include "preload/hooks.h"

namespace mosalloc {
namespace {

constexpr uint64_t kAddressEnd = UINT64_C(1) << 47;

uint64_t hex_at(const char** text) {
    uint64_t value = 0;
    for (;; ++*text) {
        const char c = **text;
        if (c >= '0' && c <= '9') value = value * 16 + static_cast<uint64_t>(c - '0');
        else if (c >= 'a' && c <= 'f') value = value * 16 + static_cast<uint64_t>(c - 'a' + 10);
        else return value;
    }
}

/// The next word of a line; `word` is at the end of the one before it.
const char* next_word(const char* word) {
    while (*word != ' ' && *word != 0) ++word;
    while (*word == ' ') ++word;
    return word;
}

/// A line is `start-end rwxp offset device inode path`, the numbers in hexadecimal except inode.
void tell_line(const char* line) {
    mosalloc_event event = {};
    const char* at = line;
    event.call = MOSALLOC_CALL_MMAP;
    event.address = hex_at(&at);
    ++at;
    event.bytes = hex_at(&at) - event.address;
    if (event.address >= kAddressEnd) return;  // vsyscall, which belongs to the kernel
    if (runtime().space.overlaps({event.address, event.address + event.bytes})) return;
    const char* rights = next_word(at);
    if (rights[0] == 'r') event.protection |= PROT_READ;
    if (rights[1] == 'w') event.protection |= PROT_WRITE;
    if (rights[2] == 'x') event.protection |= PROT_EXEC;
    event.flags = rights[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
    const char* offset = next_word(rights);
    const char* inode = next_word(next_word(offset));
    const char* path = next_word(inode);
    event.fd = -1;
    if (path[0] == '/') {
        event.name = reinterpret_cast<uint64_t>(path);
        event.file_offset = hex_at(&offset);
    } else {
        event.flags |= MAP_ANONYMOUS;
        if (strcmp(path, "[stack]") == 0) event.flags |= MAP_GROWSDOWN;
    }
    tell_event(event);
}

}  // namespace

void tell_first_areas() { for_each_line("/proc/self/maps", tell_line); }

}  // namespace mosalloc
