// SPDX-License-Identifier: GPL-2.0-only
#include "guest_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace tessera::tracer {

namespace {

/// Access through the kernel, because a bad address must not crash the plugin. Containers filter process_vm_readv.
int own_memory() {
    static const int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    return memory;
}

}  // namespace

bool read_guest(uint64_t address, void* to, size_t size) {
    return pread(own_memory(), to, size, static_cast<off_t>(address)) == static_cast<ssize_t>(size);
}

bool write_guest(uint64_t address, const void* from, size_t size) {
    return pwrite(own_memory(), from, size, static_cast<off_t>(address)) == static_cast<ssize_t>(size);
}

bool check_guest_base(uint64_t address, const void* bytes, size_t size) {
    char found[16];
    size = std::min(size, sizeof found);
    return read_guest(address, found, size) && std::memcmp(found, bytes, size) == 0;
}

}  // namespace tessera::tracer
