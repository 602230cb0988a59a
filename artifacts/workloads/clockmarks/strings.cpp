// strings.cpp - memset and memcpy by string instructions, from sizes in L1D to sizes beyond L2; and those of the C library.
#include <cstring>

#include "clockmarks/mark.h"

namespace tessera::workloads {
namespace {

constexpr uint64_t kKB = 1 << 10, kMB = 1 << 20;

template <uint64_t bytes, uint64_t times>
TESSERA_KERNEL uint64_t set(const Arena& arena) {
    for (uint64_t k = 0; k < times; ++k) {
        void* to = arena.base;
        uint64_t count = bytes;
        __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(7) : "memory");
    }
    return uint64_t(arena.base[bytes - 1]);
}

template <uint64_t bytes, uint64_t times>
TESSERA_KERNEL uint64_t copy(const Arena& arena) {
    for (uint64_t k = 0; k < times; ++k) {
        void *to = arena.base, *from = arena.base + bytes;
        uint64_t count = bytes;
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
    }
    return uint64_t(arena.base[bytes - 1]);
}

/// The C library's, which chooses instructions by processor and size.
template <uint64_t bytes, uint64_t times>
TESSERA_KERNEL uint64_t library_set(const Arena& arena) {
    for (uint64_t k = 0; k < times; ++k) {
        std::memset(arena.base, 7, bytes);
        __asm__ volatile("" : : "r"(arena.base) : "memory");
    }
    return uint64_t(arena.base[bytes - 1]);
}
template <uint64_t bytes, uint64_t times>
TESSERA_KERNEL uint64_t library_copy(const Arena& arena) {
    for (uint64_t k = 0; k < times; ++k) {
        std::memcpy(arena.base, arena.base + bytes, bytes);
        __asm__ volatile("" : : "r"(arena.base) : "memory");
    }
    return uint64_t(arena.base[bytes - 1]);
}

void sevens(const Arena& arena) {
    for (uint64_t i = 0; i < arena.bytes; ++i) arena.base[i] = 7;
}

constexpr uint64_t at_least_a_page(uint64_t bytes) { return bytes < 4096 ? 4096 : bytes; }

template <uint64_t bytes, uint64_t times>
Mark sets(const char* name) {
    return {name, "line", times * (bytes / 64), at_least_a_page(bytes), no_preparation, set<bytes, times>, constant<7>};
}
template <uint64_t bytes, uint64_t times>
Mark copies(const char* name) {
    return {name, "line", times * (bytes / 64), at_least_a_page(2 * bytes), sevens, copy<bytes, times>, constant<7>};
}

}  // namespace

std::vector<Mark> string_marks() {
    return {
        sets<1 * kKB, 2000>("memset-1kb"),
        sets<16 * kKB, 200>("memset-16kb"),
        sets<256 * kKB, 20>("memset-256kb"),
        sets<1 * kMB, 5>("memset-1mb"),
        sets<32 * kMB, 1>("memset-32mb"),
        copies<1 * kKB, 2000>("memcpy-1kb"),
        copies<16 * kKB, 200>("memcpy-16kb"),
        copies<64 * kKB, 20>("memcpy-64kb"),
        copies<1 * kMB, 5>("memcpy-1mb"),
        {"libc-memset-64kb", "line", 50 * 1024, 64 * kKB, no_preparation, library_set<64 * kKB, 50>, constant<7>},
        {"libc-memcpy-64kb", "line", 50 * 1024, 128 * kKB, sevens, library_copy<64 * kKB, 50>, constant<7>},
    };
}

}  // namespace tessera::workloads
