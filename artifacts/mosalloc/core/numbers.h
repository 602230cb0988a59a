// numbers.h - the numbered entries of a folder of /proc (tasks, descriptors), without memory of its own.
#pragma once

#include <cstdint>

#include "core/sys.h"

namespace mosalloc {

struct Entry64 {  // struct linux_dirent64
    uint64_t inode;
    int64_t next;
    unsigned short bytes;
    unsigned char type;
    char name[1];
};

/// Calls visit(name, number) for each entry whose name is a number, until it returns false. Returns 0 or -errno.
template <class F>
long for_each_number(const char* path, F visit) {
    alignas(8) char buffer[4096];
    const long folder = sys::open(path, O_RDONLY | O_DIRECTORY);
    if (sys::failed(folder)) return folder;
    bool more = true;
    long got = 0;
    while (more && (got = sys::call(SYS_getdents64, folder, reinterpret_cast<long>(buffer), sizeof buffer)) > 0)
        for (long at = 0; more && at < got;) {
            const auto* entry = reinterpret_cast<const Entry64*>(buffer + at);
            at += entry->bytes;
            uint64_t number = 0;
            const char* c = entry->name;
            for (; *c >= '0' && *c <= '9'; ++c) number = number * 10 + static_cast<uint64_t>(*c - '0');
            if (c != entry->name && *c == 0) more = visit(entry->name, number);
        }
    sys::close(folder);
    return more ? got : 0;
}

}  // namespace mosalloc
