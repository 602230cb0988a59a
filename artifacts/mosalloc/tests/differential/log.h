// log.h - logs the results of an operation as a digest and, on request, as a line of text.
#pragma once

#include <cerrno>
#include <cstdint>

namespace differential {

class Log {
public:
    /// Names the operation that the following results belong to.
    void begin(const char* name, long a = 0, long b = 0, long c = 0, long d = 0);
    /// One result. `what` is a constant string.
    void result(const char* what, uint64_t value);
    /// A call's return value: errno if it failed.
    bool call(const char* what, long returned) {
        const long error = returned == -1 ? errno : 0;
        result(what, static_cast<uint64_t>(error));
        return error == 0;
    }
    bool call(const char* what, const void* returned) { return call(what, reinterpret_cast<long>(returned)); }
    /// Writes the line, if lines are written. Done before a risky step, so that a crash leaves what led to it.
    void end();

    void open(bool trace, unsigned thread) { trace_ = trace, thread_ = thread; }
    uint64_t digest() const { return digest_; }
    uint64_t operations() const { return operation_; }
    void mark_child() { child_ = true; }
    /// Those that another process made for this thread.
    void add_operations(uint64_t count) { operation_ += count; }

private:
    void add(const char* format, ...) __attribute__((format(printf, 2, 3)));

    uint64_t digest_ = 0xcbf29ce484222325u;
    uint64_t operation_ = 0;
    unsigned thread_ = 0;
    bool trace_ = false, child_ = false;
    unsigned length_ = 0;
    char line_[1500];
};

}  // namespace differential
