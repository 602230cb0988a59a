#include "log.h"

#include <cstdarg>
#include <cstdio>
#include <unistd.h>

namespace differential {

void Log::add(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(line_ + length_, sizeof line_ - length_, format, arguments);
    va_end(arguments);
    if (n > 0) length_ += static_cast<unsigned>(n);
    if (length_ >= sizeof line_) length_ = sizeof line_ - 1;
}

void Log::begin(const char* name, long a, long b, long c, long d) {
    ++operation_;
    const long values[] = {a, b, c, d};
    for (const long value : values) digest_ = (digest_ ^ static_cast<uint64_t>(value)) * 0x100000001b3u;
    if (!trace_) return;
    length_ = 0;
    add("%u%s %lu %s(%ld,%ld,%ld,%ld)", thread_, child_ ? "c" : "", operation_, name, a, b, c, d);
}

void Log::result(const char* what, uint64_t value) {
    digest_ = (digest_ ^ value) * 0x100000001b3u;
    digest_ ^= digest_ >> 29;
    if (trace_) add(" %s=%lx", what, value);
}

void Log::end() {
    if (!trace_ || length_ == 0) return;
    line_[length_ < sizeof line_ - 1 ? length_ : sizeof line_ - 2] = '\n';
    const unsigned bytes = length_ + 1 < sizeof line_ ? length_ + 1 : sizeof line_ - 1;
    length_ = 0;
    if (write(STDOUT_FILENO, line_, bytes) < 0) _exit(3);
}

}  // namespace differential
