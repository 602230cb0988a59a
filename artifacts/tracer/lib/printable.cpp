#include "tessera/trace/printable.h"

#include <cstdint>
#include <cstdio>

namespace tessera::trace {
namespace {

/// Bytes of the character at the start of `text`, and its number; 0 bytes: malformed.
size_t character(std::string_view text, uint32_t& code) {
    const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
    const size_t bytes = byte(0) < 0x80 ? 1 : byte(0) < 0xc2 ? 0 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : byte(0) < 0xf5 ? 4 : 0;
    if (bytes == 0 || bytes > text.size()) return 0;
    code = bytes == 1 ? byte(0) : byte(0) & (0x7f >> bytes);
    for (size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
        code = code << 6 | (byte(i) & 0x3f);
    }
    const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    return code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : bytes;
}

bool is_shown(uint32_t code) {
    struct Range {
        uint32_t first, last;
    };
    for (const Range hidden : {Range{0, 0x1f}, Range{0x7f, 0x9f}, Range{0xad, 0xad}, Range{0x61c, 0x61c}, Range{0x180e, 0x180e},
                               Range{0x200b, 0x200f}, Range{0x2028, 0x202e}, Range{0x2060, 0x206f}, Range{0xfe00, 0xfe0f},
                               Range{0xfeff, 0xfeff}, Range{0xfff0, 0xfffb}, Range{0xe0000, 0x10ffff}})
        if (code >= hidden.first && code <= hidden.last) return false;
    return true;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        uint32_t code = 0;
        const size_t bytes = character(text, code);
        if (bytes != 0 && is_shown(code)) {
            out += text.substr(0, bytes);
        } else {
            for (size_t i = 0; i < (bytes ? bytes : 1); ++i) {
                char shown[5];
                std::snprintf(shown, sizeof shown, "\\x%02x", static_cast<unsigned char>(text[i]));
                out += shown;
            }
        }
        text.remove_prefix(bytes ? bytes : 1);
    }
    return out;
}

std::string printable_lines(std::string_view text) {
    std::string out;
    for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
        out += printable(text.substr(0, end)) + '\n';
    return out + printable(text);
}

}  // namespace tessera::trace
