// text.h - messages built in a caller's buffer. The library may not allocate while it allocates for others,
// so nothing here touches malloc or stdio.
#pragma once

#include "core/base.h"

namespace mosalloc {

/// Appends to a fixed buffer, always NUL-terminated; what does not fit is cut.
class Text {
public:
    Text(char* buffer, size_t capacity) : buffer_(buffer), capacity_(capacity) { buffer_[0] = 0; }
    template <size_t N>
    explicit Text(char (&buffer)[N]) : Text(buffer, N) {}

    Text& add(const char* text);
    Text& add(const char* text, size_t length);
    Text& number(uint64_t value);
    Text& hex(uint64_t value);
    /// The shortest exact form: 64MB, 4KB, 1000B.
    Text& size(uint64_t bytes);

    const char* c_str() const { return buffer_; }
    size_t length() const { return length_; }

private:
    char* buffer_;
    size_t capacity_;
    size_t length_ = 0;
};

bool same_text(const char* a, const char* b);
/// The part of a path behind its last slash.
const char* base_name(const char* path);

}  // namespace mosalloc
