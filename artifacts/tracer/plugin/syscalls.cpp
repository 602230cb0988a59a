// SPDX-License-Identifier: GPL-2.0-only
#include "syscalls.h"

#include <sys/syscall.h>

#include <algorithm>

namespace tessera::tracer {
namespace {

enum class Shape { buffer, vector, message, fixed, per_result, per_argument };

/// One call: which argument is the address, and how long the buffer is.
struct Rule {
    int64_t number;
    Shape shape;
    bool stores;
    int address;      ///< argument with the buffer, iovec array or msghdr
    uint64_t extent;  ///< fixed: bytes; per_*: bytes of an element; vector: argument with the count
};

constexpr Rule rules[] = {
    {SYS_read, Shape::buffer, true, 1, 0},
    {SYS_pread64, Shape::buffer, true, 1, 0},
    {SYS_recvfrom, Shape::buffer, true, 1, 0},
    {SYS_getdents64, Shape::buffer, true, 1, 0},
    {SYS_getrandom, Shape::buffer, true, 0, 0},
    {SYS_getcwd, Shape::buffer, true, 0, 0},
    {SYS_readlink, Shape::buffer, true, 1, 0},
    {SYS_readlinkat, Shape::buffer, true, 2, 0},
    {SYS_write, Shape::buffer, false, 1, 0},
    {SYS_pwrite64, Shape::buffer, false, 1, 0},
    {SYS_sendto, Shape::buffer, false, 1, 0},
    {SYS_readv, Shape::vector, true, 1, 2},
    {SYS_preadv, Shape::vector, true, 1, 2},
    {SYS_preadv2, Shape::vector, true, 1, 2},
    {SYS_writev, Shape::vector, false, 1, 2},
    {SYS_pwritev, Shape::vector, false, 1, 2},
    {SYS_pwritev2, Shape::vector, false, 1, 2},
    {SYS_recvmsg, Shape::message, true, 1, 0},
    {SYS_sendmsg, Shape::message, false, 1, 0},
    {SYS_stat, Shape::fixed, true, 1, 144},
    {SYS_fstat, Shape::fixed, true, 1, 144},
    {SYS_lstat, Shape::fixed, true, 1, 144},
    {SYS_newfstatat, Shape::fixed, true, 2, 144},
    {SYS_statx, Shape::fixed, true, 4, 256},
    {SYS_epoll_wait, Shape::per_result, true, 1, 12},
    {SYS_epoll_pwait, Shape::per_result, true, 1, 12},
    {SYS_poll, Shape::per_argument, false, 0, 8},
};

struct Vector {
    uint64_t base, bytes;
};
/// The kernel's msghdr of x86-64, as far as it is read here.
struct Message {
    uint64_t name, name_bytes, vectors, count;
};
constexpr uint64_t max_vectors = 1024;  // UIO_MAXIOV

/// Buffers are filled, or sent, in order until `left` bytes are done.
std::vector<KernelCopy> copies_of_vectors(uint64_t array, uint64_t count, uint64_t left, bool stores, const ReadMemory& read_memory) {
    std::vector<Vector> vectors(std::min(count, max_vectors));
    std::vector<KernelCopy> out;
    if (!vectors.empty() && !read_memory(array, vectors.data(), vectors.size() * sizeof(Vector))) return out;
    for (const Vector& vector : vectors) {
        const uint64_t bytes = std::min(vector.bytes, left);
        if (bytes) out.push_back({vector.base, bytes, stores});
        left -= bytes;
    }
    return out;
}

}  // namespace

std::vector<KernelCopy> copies_of(const SystemCall& call, int64_t result, const ReadMemory& read_memory) {
    const auto rule = std::find_if(std::begin(rules), std::end(rules), [&](const Rule& r) { return r.number == call.number; });
    if (rule == std::end(rules) || result < 0) return {};
    const uint64_t address = call.arguments[rule->address], done = static_cast<uint64_t>(result);
    const auto one = [&](uint64_t bytes) {
        return bytes && address ? std::vector<KernelCopy>{{address, bytes, rule->stores}} : std::vector<KernelCopy>{};
    };
    switch (rule->shape) {
        case Shape::buffer: return one(done);
        case Shape::fixed: return one(rule->extent);
        case Shape::per_result: return one(done * rule->extent);
        case Shape::per_argument: return one(call.arguments[1] * rule->extent);
        case Shape::vector: return copies_of_vectors(address, call.arguments[rule->extent], done, rule->stores, read_memory);
        case Shape::message: {
            Message message{};
            if (!read_memory(address, &message, sizeof message)) return {};
            return copies_of_vectors(message.vectors, message.count, done, rule->stores, read_memory);
        }
    }
    return {};
}

}  // namespace tessera::tracer
