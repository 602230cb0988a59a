#include "core/cgroups.h"

#include <cstring>

#include "core/lines.h"
#include "core/sys.h"
#include "core/text.h"

namespace mosalloc {
namespace {

constexpr const char* kPairs[][2] = {
    {".max", ".current"},
    {".rsvd.max", ".rsvd.current"},
    {".limit_in_bytes", ".usage_in_bytes"},
    {".rsvd.limit_in_bytes", ".rsvd.usage_in_bytes"},
};

/// The word that starts at `at`, to `out`; cut if it is too long. mountinfo writes a space as \040. Returns what follows.
const char* copy_word(const char* at, char* out, size_t capacity) {
    size_t length = 0;
    const auto digit = [](char c) { return c >= '0' && c <= '7'; };
    while (*at != 0 && *at != ' ') {
        char c = *at++;
        if (c == '\\' && digit(at[0]) && digit(at[1]) && digit(at[2])) {
            c = static_cast<char>((at[0] - '0') * 64 + (at[1] - '0') * 8 + (at[2] - '0'));
            at += 3;
        }
        if (length + 1 < capacity) out[length++] = c;
    }
    out[length] = 0;
    return *at == ' ' ? at + 1 : at;
}

/// Whether the list `words`, with commas between them, has `word`.
bool lists(const char* words, const char* end, const char* word) {
    const size_t length = strlen(word);
    for (const char* at = words; at < end;) {
        const char* stop = at;
        while (stop < end && *stop != ',') ++stop;
        if (static_cast<size_t>(stop - at) == length && memcmp(at, word, length) == 0) return true;
        at = stop + 1;
    }
    return false;
}

/// False for a file that does not exist, and for the word `max`.
bool read_number(const char* folder, const char* name, const char* ending, uint64_t* out) {
    char path[1152], digits[32];
    Text(path).add(folder).add("/hugetlb.").add(name).add(ending);
    const long fd = sys::open(path, O_RDONLY);
    if (sys::failed(fd)) return false;
    const long got = sys::read(fd, digits, sizeof digits);
    sys::close(fd);
    if (got <= 0 || digits[0] < '0' || digits[0] > '9') return false;
    *out = 0;
    for (long i = 0; i < got && digits[i] >= '0' && digits[i] <= '9'; ++i) *out = *out * 10 + static_cast<uint64_t>(digits[i] - '0');
    return true;
}

}  // namespace

/// `id parent device root point options ... - type source super-options`
void Cgroups::add(const char* line) {
    const char* tail = strstr(line, " - ");
    if (count_ == kMost || tail == nullptr) return;
    char type[16], source[kPath];
    const char* options = copy_word(copy_word(tail + 3, type, sizeof type), source, sizeof source);
    const bool second = same_text(type, "cgroup2");
    if (!second && !(same_text(type, "cgroup") && lists(options, options + strlen(options), "hugetlb"))) return;
    Mount& mount = mounts_[count_++];
    mount.second = second;
    const char* at = line;
    for (int word = 0; word < 3; ++word) at = copy_word(at, source, sizeof source);
    copy_word(copy_word(at, mount.root, sizeof mount.root), mount.at, sizeof mount.at);
}

void Cgroups::init(const char* mounts) {
    count_ = 0;
    for_each_line(mounts, [this](const char* line) { add(line); });
}

/// From the process's cgroup up to the root of the mount.
void Cgroups::look(const Mount& mount, const char* group, uint64_t page_bytes, HugeAllowance* out) const {
    // A container may mount a part of the hierarchy: the group's path is then that part's root and the rest.
    const size_t root = same_text(mount.root, "/") ? 0 : strlen(mount.root);
    const bool inside = strncmp(group, mount.root, root) == 0 && (group[root] == 0 || group[root] == '/') && strncmp(group, "/..", 3) != 0;
    if (!inside) return;  // another part of the hierarchy is mounted there
    char folder[2 * kPath], name[16];
    Text path(folder);
    path.add(mount.at);
    size_t length = path.length();
    const size_t top = length;
    if (!same_text(group + root, "/")) length = path.add(group + root).length();
    Text(name).size(page_bytes);
    for (;;) {
        for (const auto& pair : kPairs) {
            uint64_t limit = 0, usage = 0;
            if (!read_number(folder, name, pair[0], &limit) || !read_number(folder, name, pair[1], &usage)) continue;
            // Version 1 writes a number for "no limit": the largest one that is a multiple of the page size.
            if (limit >= uint64_t{1} << 62) continue;
            const uint64_t left = limit > usage ? limit - usage : 0;
            if (left >= out->bytes) continue;
            out->bytes = left;
            Text(out->file).add(folder).add("/hugetlb.").add(name).add(pair[0]);
        }
        if (length <= top) return;
        while (length > top && folder[length] != '/') --length;
        folder[length] = 0;
    }
}

/// `number:controllers:path`; version 2 has the number 0 and no controllers.
void Cgroups::huge_pages(uint64_t page_bytes, HugeAllowance* out, const char* groups) const {
    *out = {};
    if (count_ == 0) return;
    for_each_line(groups, [&](const char* line) {
        const char* controllers = strchr(line, ':');
        const char* group = controllers == nullptr ? nullptr : strchr(controllers + 1, ':');
        if (group == nullptr) return;
        const bool second = line[0] == '0' && controllers == line + 1;
        if (!second && !lists(controllers + 1, group, "hugetlb")) return;
        for (size_t i = 0; i < count_; ++i)
            if (mounts_[i].second == second) look(mounts_[i], group + 1, page_bytes, out);
    });
}

}  // namespace mosalloc
