#include "base/large_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

namespace tessera::sim {
namespace {

constexpr size_t large_page = size_t{2} << 20;

constexpr size_t up(size_t bytes) { return (bytes + large_page - 1) / large_page * large_page; }

}  // namespace

LargeMemory::LargeMemory(size_t bytes) {
    const bool is_large = bytes >= large_page;
    mapped_bytes_ = is_large ? up(bytes) + large_page : std::max<size_t>(bytes, 1);
    mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped_ == MAP_FAILED) throw std::bad_alloc();
    first_ = static_cast<uint8_t*>(mapped_);
    if (!is_large) return;
    first_ = reinterpret_cast<uint8_t*>(up(reinterpret_cast<size_t>(mapped_)));
    madvise(first_, up(bytes), MADV_HUGEPAGE);
}

LargeMemory::LargeMemory(LargeMemory&& other) noexcept
    : mapped_(other.mapped_), mapped_bytes_(std::exchange(other.mapped_bytes_, 0)), first_(other.first_) {}

LargeMemory& LargeMemory::operator=(LargeMemory&& other) noexcept {
    std::swap(mapped_, other.mapped_);
    std::swap(mapped_bytes_, other.mapped_bytes_);
    std::swap(first_, other.first_);
    return *this;
}

LargeMemory::~LargeMemory() {
    if (mapped_bytes_ != 0) munmap(mapped_, mapped_bytes_);
}

}  // namespace tessera::sim
