#include "core/text.h"

namespace mosalloc {

Text& Text::add(const char* text, size_t length) {
    for (size_t i = 0; i < length && length_ + 1 < capacity_; ++i) buffer_[length_++] = text[i];
    buffer_[length_] = 0;
    return *this;
}

Text& Text::add(const char* text) {
    size_t length = 0;
    while (text[length] != 0) ++length;
    return add(text, length);
}

Text& Text::number(uint64_t value) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = static_cast<char>('0' + value % 10);
        value /= 10;
    } while (value != 0);
    return add(digits + at, sizeof digits - at);
}

Text& Text::hex(uint64_t value) {
    char digits[16];
    size_t at = sizeof digits;
    do {
        digits[--at] = "0123456789abcdef"[value % 16];
        value /= 16;
    } while (value != 0);
    return add("0x").add(digits + at, sizeof digits - at);
}

Text& Text::size(uint64_t bytes) {
    static constexpr struct {
        const char* suffix;
        uint64_t unit;
    } kUnits[] = {{"TB", 1ull << 40}, {"GB", 1ull << 30}, {"MB", 1ull << 20}, {"KB", 1ull << 10}};
    for (const auto& u : kUnits)
        if (bytes >= u.unit && bytes % u.unit == 0) return number(bytes / u.unit).add(u.suffix);
    return number(bytes).add("B");
}

bool same_text(const char* a, const char* b) {
    while (*a != 0 && *a == *b) ++a, ++b;
    return *a == *b;
}

const char* base_name(const char* path) {
    const char* last = path;
    for (; *path != 0; ++path)
        if (*path == '/') last = path + 1;
    return last;
}

}  // namespace mosalloc
