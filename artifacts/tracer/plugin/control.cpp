// SPDX-License-Identifier: GPL-2.0-only
#include "control.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tessera/common/error.h"

namespace tessera::tracer {

void Control::open(const std::string& path) {
    constexpr size_t bytes = 4;
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat found{};
    void* page = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &found) == 0 && found.st_size == bytes) page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    if (page == MAP_FAILED)
        throw Error("switch " + path, "must be a writable file of 4 bytes", "create it with `tessera trace switch FILE off`");
    page_ = static_cast<volatile uint8_t*>(page);
    page_[1] = 1;
}

}  // namespace tessera::tracer
