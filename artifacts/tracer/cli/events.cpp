// events.cpp - prints what the program asked of memory management.
//
// One line for each event. `start` in the column block means: this area existed when recording began. Numbers of
// protections, flags and advice are those of Linux on x86-64.
#include <cinttypes>
#include <cstdio>

#include "commands.h"
#include "tessera/trace/printable.h"

namespace tessera::trace::cli {
namespace {

std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + '"';
}

void print_csv(const Events& events) {
    std::printf(
        "block,at_start,kind,pool,offset_bytes,length_bytes,new_pool,new_offset_bytes,new_length_bytes,protection,flags,file,"
        "file_offset_bytes,file_name,file_size_bytes\n");
    for (size_t i = 0; i < events.list.size(); ++i) {
        const Event& e = events.list[i];
        std::printf("%" PRIu64 ",%d,%s,%s,%" PRIu64 ",%" PRIu64 ",", e.block, i < events.at_start, name_of(e.kind), name_of(e.pool),
                    e.offset_bytes, e.length_bytes);
        if (e.kind == EventKind::remap)
            std::printf("%s,%" PRIu64 ",%" PRIu64 ",", name_of(e.new_pool), e.new_offset_bytes, e.new_length_bytes);
        else std::printf(",,,");
        std::printf("%u,%u,%u,%" PRIu64 ",", e.protection, e.flags, e.file, e.file_offset_bytes);
        if (e.file == 0) std::printf(",\n");
        else std::printf("%s,%" PRIu64 "\n", quoted(events.files[e.file - 1].name).c_str(), events.files[e.file - 1].size_bytes);
    }
}

std::string rights(uint32_t protection) { return {protection & 1 ? 'r' : '-', protection & 2 ? 'w' : '-', protection & 4 ? 'x' : '-'}; }

void print_text(const Events& events) {
    std::printf("%zu events, %" PRIu64 " of them the areas at the start; offsets and lengths in bytes\n", events.list.size(),
                events.at_start);
    for (size_t i = 0; i < events.list.size(); ++i) {
        const Event& e = events.list[i];
        if (i < events.at_start) std::printf("%12s ", "start");
        else std::printf("%12" PRIu64 " ", e.block);
        std::printf("%-7s %-7s 0x%" PRIx64 " +0x%" PRIx64, name_of(e.kind), name_of(e.pool), e.offset_bytes, e.length_bytes);
        if (e.kind == EventKind::remap)
            std::printf(" to %s 0x%" PRIx64 " +0x%" PRIx64, name_of(e.new_pool), e.new_offset_bytes, e.new_length_bytes);
        if (e.kind == EventKind::map || e.kind == EventKind::protect) std::printf(" %s", rights(e.protection).c_str());
        if (e.kind == EventKind::advise) std::printf(" advice %u", e.flags);
        else if (e.flags) std::printf(" flags 0x%x", e.flags);
        if (e.file != 0)
            std::printf(" file %u %s offset 0x%" PRIx64, e.file, printable(events.files[e.file - 1].name).c_str(), e.file_offset_bytes);
        std::printf("\n");
    }
}

}  // namespace

void events(const std::string& in, bool csv) {
    const Reader reader = Reader::open(in);
    csv ? print_csv(reader.events()) : print_text(reader.events());
}

}  // namespace tessera::trace::cli
