// coding.h - numbers and checksums of the log's file.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::os {

constexpr char magic[] = "TSTOSLG1";
constexpr char format_line[] = "note.format = 2\n";
constexpr size_t magic_bytes = 8, word_bytes = 8;
constexpr unsigned wide_kind = 7;  ///< in a record's first byte: another byte has kind and pool
constexpr uint64_t checksum_start = 0xcbf29ce484222325, checksum_prime = 0x100000001b3;

inline uint64_t checksum_of(const char *data, size_t size, uint64_t from = checksum_start) {
    for (size_t i = 0; i < size; ++i) from = (from ^ static_cast<unsigned char>(data[i])) * checksum_prime;
    return from;
}

inline void put_word(std::string &out, uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(value >> shift));
}
inline uint64_t get_word(const char *at) {
    uint64_t value = 0;
    for (unsigned i = 0; i < word_bytes; ++i) value |= uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
    return value;
}

inline void put_number(std::string &out, uint64_t value) {
    for (; value >= 128; value >>= 7) out.push_back(static_cast<char>(value | 128));
    out.push_back(static_cast<char>(value));
}
/// Small for small differences of either sign.
inline uint64_t folded(uint64_t difference) { return (difference << 1) ^ (uint64_t{0} - (difference >> 63)); }
inline uint64_t unfolded(uint64_t value) { return (value >> 1) ^ (uint64_t{0} - (value & 1)); }

}  // namespace tessera::os
