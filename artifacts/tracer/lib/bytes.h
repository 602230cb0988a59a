// bytes.h - little-endian fields in byte strings, and a cursor that never reads past its end.
//
// The format is little endian and so is every machine that QEMU's x86-64 recording targets here; a
// big-endian port fails to compile instead of writing a second dialect.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace tessera::trace {

inline constexpr uint64_t page_bytes = 4096;

static_assert(std::endian::native == std::endian::little, "the trace format is little endian");

template <typename T>
void put(std::string& out, T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Appends `value` in groups of seven bits, low group first.
inline void put_varint(std::string& out, uint64_t value) {
    while (value >= 0x80) {
        out.push_back(static_cast<char>(value | 0x80));
        value >>= 7;
    }
    out.push_back(static_cast<char>(value));
}

/// Reads fields from [data, data + size). After a read past the end, ok() is false and reads give 0.
class Cursor {
public:
    Cursor(const char* data, size_t size) : at_(data), end_(data + size) {}
    explicit Cursor(const std::string& text) : Cursor(text.data(), text.size()) {}

    bool ok() const { return ok_; }
    bool at_end() const { return at_ == end_; }
    size_t left() const { return static_cast<size_t>(end_ - at_); }
    void fail() { ok_ = false, at_ = end_; }

    template <typename T>
    T get() {
        T value{};
        const char* from = take(sizeof value);
        if (from) std::memcpy(&value, from, sizeof value);
        return value;
    }

    uint64_t get_varint() {
        uint64_t value = 0;
        for (int shift = 0; shift < 64 && at_ != end_; shift += 7) {
            const auto byte = static_cast<uint8_t>(*at_++);
            value |= static_cast<uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return value;
        }
        fail();
        return 0;
    }

    /// The next `size` bytes, or nullptr when fewer are left.
    const char* take(size_t size) {
        if (left() < size) {
            fail();
            return nullptr;
        }
        const char* from = at_;
        at_ += size;
        return from;
    }

private:
    const char* at_;
    const char* end_;
    bool ok_ = true;
};

}  // namespace tessera::trace
