// fixed_text.h - text in a buffer of the caller's, without libc: for code that may not allocate, as in an allocator.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera {

/// Appends to a buffer, which stays NUL-terminated; what does not fit is cut off.
class FixedText {
public:
    FixedText(char* buffer, size_t capacity) : buffer_(buffer), capacity_(capacity) { buffer_[0] = 0; }
    template <size_t N>
    explicit FixedText(char (&buffer)[N]) : FixedText(buffer, N) {}

    FixedText& add(const char* text) {
        for (; *text != 0; ++text) put(*text);
        return *this;
    }
    FixedText& add(const char* text, size_t length) {
        for (size_t i = 0; i < length; ++i) put(text[i]);
        return *this;
    }
    FixedText& number(uint64_t value) { return digits(value, 10); }
    FixedText& hex(uint64_t value) { return add("0x").digits(value, 16); }
    /// The shortest exact form: 64MB, 4KB, 1000B.
    FixedText& size(uint64_t bytes) {
        constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB"};
        size_t unit = 0;
        for (; unit < 4 && bytes != 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
        return number(bytes).add(kUnits[unit]);
    }
    /// Text from a file: at most `most` characters; a byte that is not printable ASCII becomes \xNN.
    FixedText& shown(const char* text, size_t length, size_t most) {
        for (size_t i = 0; i < length && i < most; ++i) {
            const auto c = static_cast<unsigned char>(text[i]);
            if (c >= ' ' && c <= '~') put(text[i]);
            else add("\\x").digits(c >> 4, 16).digits(c & 15, 16);
        }
        return length > most ? add("...") : *this;
    }

    const char* c_str() const { return buffer_; }
    size_t length() const { return length_; }

private:
    FixedText& digits(uint64_t value, unsigned base) {
        char text[20];
        size_t at = sizeof text;
        do text[--at] = "0123456789abcdef"[value % base];
        while ((value /= base) != 0);
        return add(text + at, sizeof text - at);
    }
    void put(char c) {
        if (length_ + 1 >= capacity_) return;
        buffer_[length_++] = c;
        buffer_[length_] = 0;
    }

    char* buffer_;
    size_t capacity_;
    size_t length_ = 0;
};

}  // namespace tessera
