#include "core/asleep.h"

#include "core/aside.h"
#include "core/numbers.h"
#include "core/sys.h"
#include "core/text.h"

namespace mosalloc {
namespace {

constexpr int kArguments = 6;
constexpr uint64_t kStackBytes = 64 << 20;

int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// Reads ` 0x...` and moves on; false if there is none.
bool read_hex(const char** text, uint64_t* value) {
    const char* at = *text;
    if (at[0] != ' ' || at[1] != '0' || at[2] != 'x') return false;
    *value = 0;
    for (at += 3; digit(*at) >= 0; ++at) *value = *value * 16 + static_cast<uint64_t>(digit(*at));
    *text = at;
    return true;
}

/// One line of /proc/PID/task/N/syscall: `running`, or number, six arguments, stack pointer, program counter.
bool sleeps_elsewhere(const char* number, Range addresses) {
    char path[64], text[256];
    Text(path).add("/proc/self/task/").add(number).add("/syscall");
    const long fd = sys::open(path, O_RDONLY);
    if (sys::failed(fd)) return false;
    const long got = sys::read(fd, text, sizeof text - 1);
    sys::close(fd);
    if (got <= 0 || digit(text[0]) < 0) return false;
    text[got] = 0;
    const char* at = text;
    while (*at != ' ' && *at != 0) ++at;
    uint64_t value = 0;
    for (int i = 0; i < kArguments; ++i)
        if (!read_hex(&at, &value) || (addresses.start <= value && value < addresses.end)) return false;
    if (!read_hex(&at, &value)) return false;
    return value + kStackBytes < addresses.start || value > addresses.end + kStackBytes;
}

}  // namespace

bool others_sleep(Range addresses) {
    const uint64_t me = static_cast<uint64_t>(sys::call(SYS_gettid));
    bool good = true;
    const long result = for_each_number("/proc/self/task", [&](const char* name, uint64_t task) {
        good = task == me || task == aside_caller() || sleeps_elsewhere(name, addresses);
        return good;
    });
    return good && result == 0;
}

}  // namespace mosalloc
