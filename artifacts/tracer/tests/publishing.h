// publishing.h - what a program syncs and renames, in order; each call can be made to fail. For tests of all components.
//
// The program's own fsync() and rename() take the place of the C library's. So one file of a program includes this.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace publishing {

inline std::vector<std::string> calls;  ///< "sync PATH" and "rename PATH"
inline size_t failing = SIZE_MAX;       ///< the call that fails with EIO

inline void watch(size_t fails = SIZE_MAX) { calls.clear(), failing = fails; }

inline long done(const std::string& call, long (*work)(const void*, const void*), const void* first, const void* second) {
    calls.push_back(call);
    if (calls.size() != failing + 1) return work(first, second);
    errno = EIO;
    return -1;
}

}  // namespace publishing

extern "C" int fsync(int file) {
    char path[4096];
    const ssize_t length = readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), path, sizeof path);
    const std::string name(path, length > 0 ? static_cast<size_t>(length) : 0);
    const auto sync = [](const void* at, const void*) { return syscall(SYS_fsync, *static_cast<const int*>(at)); };
    return static_cast<int>(publishing::done("sync " + name, sync, &file, nullptr));
}

extern "C" int rename(const char* from, const char* to) noexcept {
    const auto rename = [](const void* old, const void* target) { return syscall(SYS_rename, old, target); };
    return static_cast<int>(publishing::done("rename " + std::string(to), rename, from, to));
}
