// message.h - the text of an error in a layout file, the same in every reader, in buffers of fixed size.
#pragma once

#include "tessera/layout_file/reader.h"

namespace tessera::layout_file {

/// Appends to a buffer, which stays NUL-terminated; text that does not fit is cut off.
class Words {
public:
    Words(char* buffer, size_t capacity) : at_(buffer), left_(capacity - 1) { *at_ = 0; }

    Words& add(const char* text) {
        for (; *text != 0; ++text) put(*text);
        return *this;
    }
    Words& number(uint64_t value) {
        char digits[21];
        size_t at = sizeof digits - 1;
        digits[at] = 0;
        do digits[--at] = static_cast<char>('0' + value % 10);
        while ((value /= 10) != 0);
        return add(digits + at);
    }
    /// The shortest exact form: 64MB, 4KB, 1000B.
    Words& size(uint64_t bytes) {
        constexpr const char* units[] = {"B", "KB", "MB", "GB", "TB"};
        size_t unit = 0;
        for (; unit < 4 && bytes != 0 && bytes % 1024 == 0; ++unit) bytes /= 1024;
        return number(bytes).add(units[unit]);
    }
    /// Adds at most 40 characters of the value; a byte that is not printable becomes \xNN.
    Words& value(Cell cell) {
        constexpr size_t most = 40;
        for (size_t i = 0; i < cell.length && i < most; ++i) {
            const unsigned char c = static_cast<unsigned char>(cell.text[i]);
            if (c >= ' ' && c <= '~') put(cell.text[i]);
            else add("\\x").hex(c >> 4).hex(c & 15);
        }
        return cell.length > most ? add("...") : *this;
    }

private:
    Words& hex(unsigned digit) { return put("0123456789abcdef"[digit]), *this; }
    void put(char c) {
        if (left_ == 0) return;
        *at_++ = c;
        *at_ = 0;
        --left_;
    }
    char* at_;
    size_t left_;
};

/// Prints as "asked: found", a line break, "what to do: remedy". `found` ends with the rule's code in brackets.
struct Message {
    char asked[240];
    char found[180];
    const char* remedy;

    Message(const Refusal& why, const char* path) : remedy(text_of(why.rule).remedy) {
        Words place(asked, sizeof asked);
        place.add("layout ");
        add_path(path, place);
        place.add(" line ").number(why.line).add(", column ").add(why.column);
        Words out(found, sizeof found);
        out.add("'");
        if (why.value.text != nullptr) out.value(why.value);
        else out.number(why.number);
        out.add("': ").add(text_of(why.rule).found);
        details(why, out);
        out.add(" [").add(text_of(why.rule).code).add("]");
    }

private:
    static void details(const Refusal& why, Words& out) {
        switch (why.rule) {
            case Rule::alignment:
            case Rule::outside_pool: out.add(" ").size(why.detail[0]); break;
            case Rule::columns:
            case Rule::pool_twice:
            case Rule::empty_window:
            case Rule::window_limit: out.add(" ").number(why.detail[0]); break;
            case Rule::overlap:
                out.add(" ").number(why.detail[0]).add("-").number(why.detail[1]).add(" of line ").number(why.detail[2]);
                break;
            default: break;
        }
    }
    /// Adds the path, or only the end of a long path, so that the rule still fits in the buffer.
    static void add_path(const char* path, Words& out) {
        constexpr size_t most = 160;
        size_t length = 0;
        while (path[length] != 0) ++length;
        if (length > most) out.add("...").add(path + length - most);
        else out.add(path);
    }
};

}  // namespace tessera::layout_file
