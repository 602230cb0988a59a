// message.h - the text of an error in a layout file, the same in every reader, in buffers of fixed size.
#pragma once

#include "tessera/common/fixed_text.h"
#include "tessera/layout_file/reader.h"

namespace tessera::layout_file {

/// Prints as "asked: found", a line break, "what to do: remedy". `found` ends with the rule's code in brackets.
struct Message {
    char asked[240];
    char found[180];
    const char* remedy;

    Message(const Refusal& why, const char* path) : remedy(text_of(why.rule).remedy) {
        FixedText place(asked);
        place.add("layout ");
        add_path(path, place);
        place.add(" line ").number(why.line).add(", column ").add(why.column);
        FixedText out(found);
        out.add("'");
        if (why.value.text != nullptr) out.shown(why.value.text, why.value.length, 40);
        else out.number(why.number);
        out.add("': ").add(text_of(why.rule).found);
        details(why, out);
        out.add(" [").add(text_of(why.rule).code).add("]");
    }

private:
    static void details(const Refusal& why, FixedText& out) {
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
    static void add_path(const char* path, FixedText& out) {
        constexpr size_t most = 160;
        size_t length = 0;
        while (path[length] != 0) ++length;
        if (length > most) out.add("...").add(path + length - most);
        else out.add(path);
    }
};

}  // namespace tessera::layout_file
