// descriptor.cpp - see descriptor.h.
#include "common/descriptor.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace tessera::workloads {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // Linux moves less than 2 GB in one call

}  // namespace

Descriptor::~Descriptor() {
    if (open()) close(number_);
}

int64_t Descriptor::read_at(void* to, uint64_t bytes, uint64_t offset) const {
    uint64_t done = 0;
    while (done < bytes) {
        const ssize_t got =
            pread(number_, static_cast<char*>(to) + done, std::min(bytes - done, kMostBytes), static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += static_cast<uint64_t>(got);
    }
    return static_cast<int64_t>(done);
}

bool Descriptor::write_at(const void* from, uint64_t bytes, uint64_t offset) const {
    uint64_t done = 0;
    while (done < bytes) {
        const ssize_t put =
            pwrite(number_, static_cast<const char*>(from) + done, std::min(bytes - done, kMostBytes), static_cast<off_t>(offset + done));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        done += static_cast<uint64_t>(put);
    }
    return true;
}

}  // namespace tessera::workloads
