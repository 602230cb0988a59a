// SPDX-License-Identifier: GPL-2.0-only
#include "file_event.h"

#include <sys/syscall.h>

#include <algorithm>

namespace tessera::tracer {
namespace {

bool is_write(int64_t number) {
    constexpr int64_t writes[] = {SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev, SYS_pwritev2};
    return std::find(std::begin(writes), std::end(writes), number) != std::end(writes);
}

}  // namespace

std::string text_at(uint64_t address, const ReadMemory& read_memory) {
    constexpr size_t most_bytes = 4096, page_bytes = 4096;  // PATH_MAX; the next page may not exist
    std::string text;
    while (text.size() < most_bytes) {
        char bytes[page_bytes];
        const uint64_t at = address + text.size();
        const size_t count = page_bytes - at % page_bytes;
        if (!read_memory(at, bytes, count)) return {};
        const char* const end = std::find(bytes, bytes + count, '\0');
        text.append(bytes, static_cast<size_t>(end - bytes));
        if (end != bytes + count) return text.size() < most_bytes ? text : std::string{};
    }
    return {};
}

bool FileEvent::is(const SystemCall& call, int64_t result, const ReadMemory& read_memory) {
    if (result < 0) return false;
    if (call.number == SYS_openat || call.number == SYS_open) {
        const std::string path = text_at(call.arguments[call.number == SYS_openat ? 1 : 0], read_memory);
        if (path.substr(path.rfind('/') + 1) == name_) descriptors_.insert(static_cast<uint64_t>(result));
        return false;
    }
    const bool ours = descriptors_.contains(call.arguments[0]);
    if (call.number == SYS_close && ours) {
        descriptors_.erase(call.arguments[0]);
        return kind_ == Kind::closed;
    }
    return ours && kind_ == Kind::written && is_write(call.number);
}

}  // namespace tessera::tracer
