// SPDX-License-Identifier: GPL-2.0-only
#include "fixed_results.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <ctime>

#include "file_event.h"

namespace tessera::tracer {
namespace {

/// The output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) of a counter.
uint64_t mix64(uint64_t counter) {
    uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

template <typename T>
Overwrite all_of(uint64_t address, const T& value) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(&value);
    return {address, {bytes, bytes + sizeof value}};
}

Overwrite block_bytes_of_stat(uint64_t address) {
    return all_of(address + offsetof(struct stat, st_blksize), static_cast<blksize_t>(fixed_file_block_bytes));
}

bool is_random_file(const std::string& path) { return path == "/dev/urandom" || path == "/dev/random"; }

}  // namespace

std::vector<uint8_t> FixedResults::random(size_t count) {
    std::vector<uint8_t> bytes(count);
    for (size_t i = 0; i < count; i += sizeof(uint64_t)) {
        const uint64_t word = mix64(random_words_++);
        std::memcpy(bytes.data() + i, &word, std::min(sizeof word, count - i));
    }
    return bytes;
}

std::vector<Overwrite> FixedResults::after(const SystemCall& call, int64_t result, const ReadMemory& read_memory) {
    if (result < 0) return {};
    const auto& arguments = call.arguments;
    const auto descriptor = static_cast<uint64_t>(result);
    const auto now = [&](uint64_t per_second) -> std::vector<int64_t> {
        const uint64_t microseconds = ++clock_calls_;
        return {fixed_clock_seconds + static_cast<int64_t>(microseconds / 1'000'000),
                static_cast<int64_t>(microseconds % 1'000'000 * (per_second / 1'000'000))};
    };
    switch (call.number) {
        case SYS_open:
        case SYS_openat:
            if (is_random_file(text_at(arguments[call.number == SYS_openat ? 1 : 0], read_memory))) random_files_.insert(descriptor);
            return {};
        case SYS_close: random_files_.erase(arguments[0]); return {};
        case SYS_read:
            if (!random_files_.contains(arguments[0]) || result == 0) return {};
            return {{arguments[1], random(static_cast<size_t>(result))}};
        case SYS_getrandom:
            if (result == 0) return {};
            return {{arguments[0], random(static_cast<size_t>(result))}};
        case SYS_stat:
        case SYS_fstat:
        case SYS_lstat: return {block_bytes_of_stat(arguments[1])};
        case SYS_newfstatat: return {block_bytes_of_stat(arguments[2])};
        case SYS_statx: return {all_of(arguments[4] + offsetof(struct statx, stx_blksize), static_cast<uint32_t>(fixed_file_block_bytes))};
        case SYS_sysinfo: {
            struct sysinfo fixed{};
            fixed.totalram = fixed.freeram = fixed_memory_bytes;
            fixed.procs = 1;
            fixed.mem_unit = 1;
            return {all_of(arguments[0], fixed)};
        }
        case SYS_clock_gettime: {
            if (!clocks_) return {};
            const auto time = now(1'000'000'000);
            return {all_of(arguments[1], timespec{time[0], time[1]})};
        }
        case SYS_gettimeofday: {
            if (!clocks_ || arguments[0] == 0) return {};
            const auto time = now(1'000'000);
            return {all_of(arguments[0], timeval{time[0], time[1]})};
        }
        default: return {};
    }
}

}  // namespace tessera::tracer
