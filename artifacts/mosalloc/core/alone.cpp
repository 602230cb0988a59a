#include "core/alone.h"

#include <cerrno>
#include <cstring>
#include <linux/kcmp.h>

#include "core/lines.h"
#include "core/sys.h"
#include "core/text.h"

namespace mosalloc {
namespace {

uint64_t number_at(const char* text) {
    uint64_t value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + static_cast<uint64_t>(*text - '0');
    return value;
}

/// Threads of this process; 0 if the kernel does not say.
uint64_t thread_count() {
    uint64_t count = 0;
    for_each_line("/proc/self/status", [&](const char* line) {
        if (strncmp(line, "Threads:\t", 9) == 0) count = number_at(line + 9);
    });
    return count;
}

/// 0 if the process has this memory, another positive number if not, or -errno.
long compare_memory(long process) { return sys::call(SYS_kcmp, sys::getpid(), process, KCMP_VM, 0, 0); }

/// The parent may be of another user; then kcmp is denied, and such a parent seldom shares memory.
bool parent_shares() {
    const long parent = sys::call(SYS_getppid);
    return parent > 0 && compare_memory(parent) == 0;
}

bool a_child_shares() {
    char path[64], text[4096];
    Text(path).add("/proc/self/task/").number(static_cast<uint64_t>(sys::call(SYS_gettid))).add("/children");
    const long fd = sys::open(path, O_RDONLY);
    if (sys::failed(fd)) return false;  // a kernel without this file
    const long got = sys::read(fd, text, sizeof text - 1);
    sys::close(fd);
    if (got < 0 || got == static_cast<long>(sizeof text) - 1) return true;  // more than fit here: not looked at
    text[got] = 0;
    for (const char* word = text; *word >= '0' && *word <= '9';) {
        const long result = compare_memory(static_cast<long>(number_at(word)));
        if (result == 0 || (sys::failed(result) && result != -ESRCH)) return true;
        while (*word >= '0' && *word <= '9') ++word;
        while (*word == ' ') ++word;
    }
    return false;
}

}  // namespace

bool is_alone() { return thread_count() == 1 && !parent_shares() && !a_child_shares(); }

}  // namespace mosalloc
