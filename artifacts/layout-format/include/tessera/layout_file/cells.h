// cells.h - splits the text of a layout file into lines, cells and sizes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tessera/layout_file/rules.h"

namespace tessera::layout_file {

/// A part of the file's text.
struct Cell {
    const char* text = nullptr;
    size_t length = 0;

    bool is(const char* word) const {
        size_t i = 0;
        while (i < length && word[i] != 0 && text[i] == word[i]) ++i;
        return i == length && word[i] == 0;
    }
};

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

inline Cell trimmed(Cell c) {
    while (c.length != 0 && is_blank(c.text[0])) ++c.text, --c.length;
    while (c.length != 0 && is_blank(c.text[c.length - 1])) --c.length;
    return c;
}

/// Splits at commas and trims; counts cells beyond `capacity` without storing them.
inline size_t split(Cell line, Cell* cells, size_t capacity) {
    size_t count = 0, from = 0;
    for (size_t i = 0; i <= line.length; ++i) {
        if (i != line.length && line.text[i] != ',') continue;
        if (count < capacity) cells[count] = trimmed({line.text + from, i - from});
        ++count;
        from = i + 1;
    }
    return count;
}

/// size = digits, blanks, unit; K, M, G and T may be followed by B or iB; letters of either case.
/// Returns false and sets `broken` to size or too_large; a value must be below 2^63.
inline bool parse_size(Cell c, uint64_t* out, Rule* broken) {
    constexpr uint64_t most = UINT64_MAX >> 1;
    size_t i = 0;
    uint64_t value = 0;
    bool fits = true;
    for (; i < c.length && c.text[i] >= '0' && c.text[i] <= '9'; ++i) {
        const uint64_t digit = static_cast<uint64_t>(c.text[i] - '0');
        fits = fits && value <= (most - digit) / 10;
        if (fits) value = value * 10 + digit;
    }
    const bool digits = i != 0;
    while (i < c.length && is_blank(c.text[i])) ++i;
    const auto letter = [&](size_t at, char lower) { return at < c.length && (c.text[at] | 0x20) == lower; };
    unsigned shift = 0;
    if (letter(i, 'k')) shift = 10;
    else if (letter(i, 'm')) shift = 20;
    else if (letter(i, 'g')) shift = 30;
    else if (letter(i, 't')) shift = 40;
    if (shift != 0) ++i;
    if (shift != 0 && letter(i, 'i') && letter(i + 1, 'b')) i += 2;
    else if (letter(i, 'b')) ++i;
    if (!digits || i != c.length) {
        *broken = Rule::size;
        return false;
    }
    if (!fits || value > most >> shift) {
        *broken = Rule::too_large;
        return false;
    }
    *out = value << shift;
    return true;
}

}  // namespace tessera::layout_file
