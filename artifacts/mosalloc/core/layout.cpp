#include "core/layout.h"

#include "tessera/layout_file/message.h"

namespace mosalloc {
namespace {

bool say(const tessera::layout_file::Message& message, Text* error) {
    error->add(message.asked)
        .add(": ")
        .add(message.found)
        .add("\n  what to do: ")
        .add(message.remedy)
        .add("; then run: tessera layouts check FILE");
    return false;
}

/// The only rule that depends on the library: a pool without a size row has the default size.
bool inside_default(const Window& w, const char* name, Text* error) {
    if (w.end <= kDefaultPoolBytes[w.pool]) return true;
    error->add("layout ")
        .add(name)
        .add(" line ")
        .number(w.line)
        .add(", column endOffset: '")
        .number(w.end)
        .add("': the window ends outside its pool of ")
        .size(kDefaultPoolBytes[w.pool])
        .add(" (the default without a row with pageSize -1) [allocator/default-pool]\n  what to do: add a row: ")
        .add(kPoolNames[w.pool])
        .add(",-1,0,")
        .number(w.end);
    return false;
}

}  // namespace

uint64_t Layout::pages(uint64_t page_bytes) const {
    uint64_t count = 0;
    for (size_t i = 0; i < window_count; ++i)
        if (windows[i].page_bytes == page_bytes) count += (windows[i].end - windows[i].start) / page_bytes;
    return count;
}

bool parse_layout(const char* text, size_t length, const char* name, Layout* out, Text* error) {
    tessera::layout_file::Refusal why;
    if (!tessera::layout_file::read(text, length, out, &why)) return say({why, name}, error);
    size_t kept = 0;
    for (size_t i = 0; i < out->window_count; ++i) {
        const Window& w = out->windows[i];
        if (w.page_bytes == kPage4K) continue;
        if (out->pool_line[w.pool] == 0 && !inside_default(w, name, error)) return false;
        out->windows[kept++] = w;
    }
    out->window_count = kept;
    for (size_t pool = 0; pool < kPools; ++pool)
        out->pool_bytes[pool] = out->pool_line[pool] == 0 ? kDefaultPoolBytes[pool] : align_up(out->pool_bytes[pool], kPage4K);
    return true;
}

}  // namespace mosalloc
