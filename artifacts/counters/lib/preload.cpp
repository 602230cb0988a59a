#include "counters/preload.h"

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera::counters {
namespace {

constexpr const char* kSplit = " :$";
constexpr const char* kOther =
    "set XDG_RUNTIME_DIR to a folder of yours with mode 0700, or move the library to a path without spaces and colons";
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH, kPrivate = 0700;

bool splits(const std::string& path) { return path.find_first_of(kSplit) != std::string::npos; }

std::string octal(mode_t mode) {
    char text[16];
    snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
    return text;
}

/// An absolute folder of this user that no other user writes to.
bool is_ours(const std::string& folder) {
    struct stat status = {};
    if (folder.empty() || folder[0] != '/' || splits(folder) || stat(folder.c_str(), &status) != 0) return false;
    return S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & kOthersWrite) == 0;
}

/// The folder above the links. Others may add files to it only if they cannot rename ours (the sticky bit).
Problem find_base(std::string* out) {
    const char* runtime = getenv("XDG_RUNTIME_DIR");
    *out = runtime != nullptr && is_ours(runtime) ? runtime : "/tmp";
    struct stat status = {};
    if (stat(out->c_str(), &status) != 0) return {"folder " + *out, strerror(errno), kOther};
    const bool trusted = status.st_uid == 0 || status.st_uid == geteuid();
    const bool keeps_names = (status.st_mode & kOthersWrite) == 0 || (status.st_mode & S_ISVTX) != 0;
    if (S_ISDIR(status.st_mode) && trusted && keeps_names) return {};
    return {"folder " + *out,
            "other users can rename files in it: owner " + std::to_string(status.st_uid) + ", mode " + octal(status.st_mode), kOther};
}

/// Opens the folder of the links, and makes it if there is none. `out` is its descriptor.
Problem open_folder(const std::string& folder, int* out) {
    if (mkdir(folder.c_str(), kPrivate) != 0 && errno != EEXIST) return {"folder " + folder, strerror(errno), kOther};
    *out = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status = {};
    const bool found = *out >= 0 ? fstat(*out, &status) == 0 : lstat(folder.c_str(), &status) == 0;
    if (!found) return {"folder " + folder, strerror(errno), kOther};
    const bool is_folder = S_ISDIR(status.st_mode);
    if (*out >= 0 && is_folder && status.st_uid == geteuid() && (status.st_mode & 0777) == kPrivate) return {};
    const std::string is = is_folder ? "a folder" : "no folder", owner = std::to_string(status.st_uid), user = std::to_string(geteuid());
    return {"folder " + folder,
            is + ", of user " + owner + " with mode " + octal(status.st_mode) + "; it must be a folder of user " + user + " with mode 0700",
            std::string("remove it; or ") + kOther};
}

/// FNV-1a of the path, so that each library has a link of its own, and the file's name, which shows what is preloaded.
std::string name_of(const std::string& library) {
    uint64_t hash = 0xcbf29ce484222325;
    for (const char c : library) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    char text[24];
    snprintf(text, sizeof text, "%016llx-", static_cast<unsigned long long>(hash));
    std::string name = text + library.substr(library.rfind('/') + 1);
    for (size_t at = 0; (at = name.find_first_of(kSplit, at)) != std::string::npos;) name[at] = '_';
    return name;
}

Problem make_link(const std::string& library, int folder, const std::string& link) {
    const char* name = strrchr(link.c_str(), '/') + 1;
    if (symlinkat(library.c_str(), folder, name) == 0) return {};
    if (errno != EEXIST) return {"link " + link, strerror(errno), kOther};
    char target[PATH_MAX];
    const ssize_t size = readlinkat(folder, name, target, sizeof target);
    if (size >= 0 && library == std::string(target, static_cast<size_t>(size))) return {};
    const std::string found =
        size < 0 ? strerror(errno) : "it leads to " + std::string(target, static_cast<size_t>(size)) + ", not to " + library;
    return {"link " + link, found, "remove it"};
}

}  // namespace

Problem preloadable(const std::string& library, std::string* out) {
    *out = library;
    if (!splits(library)) return {};
    std::string base;
    if (Problem problem = find_base(&base)) return problem;
    const std::string folder = base + "/tessera-preload-" + std::to_string(geteuid());
    int descriptor = -1;
    Problem problem = open_folder(folder, &descriptor);
    *out = folder + "/" + name_of(library);
    if (!problem) problem = make_link(library, descriptor, *out);
    if (descriptor >= 0) close(descriptor);
    return problem;
}

}  // namespace tessera::counters
