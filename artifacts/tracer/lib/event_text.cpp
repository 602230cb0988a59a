// event_text.cpp - numbers as varints in the order of the structs. A block is its distance to the event before it; kind
// and pools share a byte. Nearly all of it repeats, so compression removes what a denser code would.
#include "event_text.h"

#include "bytes.h"
#include "tessera/trace/pools.h"

namespace tessera::trace {
namespace {

constexpr size_t least_event_bytes = 10, least_file_bytes = 2;

std::string wrong_range(uint64_t offset, uint64_t bytes, EventPool pool, const Events& events, const Header& header) {
    if (bytes > UINT64_MAX - offset) return "its range ends beyond the address space";
    if (offset % page_bytes != 0 || bytes % page_bytes != 0) return "its range does not begin and end at 4KB pages";
    uint64_t size = pool == EventPool::file ? events.file_pool_bytes : pool == EventPool::outside ? UINT64_MAX : address_limit;
    for (const Pool& known : header.pools)
        if (static_cast<uint8_t>(known.kind) == static_cast<uint8_t>(pool)) size = known.size_bytes;
    return offset + bytes > size ? std::string("its range ends behind the pool ") + name_of(pool) : std::string();
}

std::string wrong_event(const Event& e, const Events& events, const Header& header) {
    const EventKind kind = e.kind;
    const bool maps = kind == EventKind::map, moves = kind == EventKind::remap;
    if (kind == EventKind::brk) {
        if (e.pool != EventPool::heap || e.offset_bytes != 0) return "a brk must begin at offset 0 of the pool brk";
        uint64_t size = address_limit;
        for (const Pool& pool : header.pools)
            if (pool.kind == PoolKind::heap) size = pool.size_bytes;
        if (e.length_bytes > size) return "its break lies behind the pool brk";
    } else if (std::string wrong =
                   wrong_range(e.offset_bytes, moves && e.length_bytes == 0 ? page_bytes : e.length_bytes, e.pool, events, header);
               !wrong.empty()) {
        return wrong;
    }
    if (moves) {
        if (std::string wrong = wrong_range(e.new_offset_bytes, e.new_length_bytes, e.new_pool, events, header); !wrong.empty())
            return wrong;
        if (e.new_length_bytes == 0) return "its new range is empty";
    } else if (e.new_offset_bytes != 0 || e.new_length_bytes != 0 || e.new_pool != EventPool::heap) {
        return "only a remap has a new range";
    }
    if (kind != EventKind::brk && !moves && e.length_bytes == 0) return "its range is empty";
    if (e.protection != 0 && !maps && kind != EventKind::protect) return "only map and protect have a protection";
    if (e.flags != 0 && !maps && !moves && kind != EventKind::advise && kind != EventKind::lock) return "its kind has no flags";
    if (e.file > events.files.size()) return "it names a file that the list does not have";
    if (e.file != 0 && !maps) return "only a map names a file";
    if (e.file == 0 && e.file_offset_bytes != 0) return "it has an offset in no file";
    return {};
}

}  // namespace

const char* name_of(EventKind kind) {
    static const char* const names[event_kinds] = {"map", "unmap", "remap", "protect", "advise", "brk", "lock", "unlock"};
    return names[static_cast<uint8_t>(kind)];
}

const char* name_of(EventPool pool) {
    static const char* const names[event_pools] = {"brk", "mmap", "file", "outside"};
    return names[static_cast<uint8_t>(pool)];
}

std::string events_to_text(const Events& events) {
    std::string out;
    put_varint(out, events.at_start);
    put_varint(out, events.file_pool_base);
    put_varint(out, events.file_pool_bytes);
    put_varint(out, events.files.size());
    for (const EventFile& file : events.files) {
        put_varint(out, file.size_bytes);
        put_varint(out, file.name.size());
        out += file.name;
    }
    put_varint(out, events.list.size());
    uint64_t block = 0;
    for (const Event& e : events.list) {
        put_varint(out, e.block - block);
        block = e.block;
        put(out,
            static_cast<uint8_t>(static_cast<uint8_t>(e.kind) | static_cast<uint8_t>(e.pool) << 3 | static_cast<uint8_t>(e.new_pool) << 5));
        for (const uint64_t number : {e.offset_bytes, e.length_bytes, e.new_offset_bytes, e.new_length_bytes, uint64_t{e.protection},
                                      uint64_t{e.flags}, uint64_t{e.file}, e.file_offset_bytes})
            put_varint(out, number);
    }
    return out;
}

bool events_from_text(const std::string& text, Events& events) {
    Cursor in(text);
    events = {};
    events.at_start = in.get_varint();
    events.file_pool_base = in.get_varint();
    events.file_pool_bytes = in.get_varint();
    const uint64_t files = in.get_varint();
    if (files > in.left() / least_file_bytes) return false;
    events.files.resize(files);
    for (EventFile& file : events.files) {
        file.size_bytes = in.get_varint();
        const uint64_t bytes = in.get_varint();
        if (bytes > in.left()) return false;
        file.name.assign(in.take(bytes), bytes);
    }
    const uint64_t count = in.get_varint();
    if (count > in.left() / least_event_bytes) return false;
    events.list.resize(count);
    uint64_t block = 0;
    for (Event& e : events.list) {
        const uint64_t distance = in.get_varint();
        if (distance > UINT64_MAX - block) return false;
        e.block = block += distance;
        const uint8_t code = in.get<uint8_t>();
        if (code >> 7 != 0) return false;
        e.kind = static_cast<EventKind>(code & 7);
        e.pool = static_cast<EventPool>(code >> 3 & 3);
        e.new_pool = static_cast<EventPool>(code >> 5 & 3);
        for (uint64_t* number : {&e.offset_bytes, &e.length_bytes, &e.new_offset_bytes, &e.new_length_bytes}) *number = in.get_varint();
        for (uint32_t* number : {&e.protection, &e.flags, &e.file}) {
            const uint64_t value = in.get_varint();
            if (value > UINT32_MAX) return false;
            *number = static_cast<uint32_t>(value);
        }
        e.file_offset_bytes = in.get_varint();
    }
    return in.ok() && in.at_end();
}

std::string wrong_events(const Events& events, const Header& header) {
    if (events.at_start > events.list.size()) return "more events are said to be at the start than there are";
    if (events.file_pool_base % page_bytes != 0) return "the file pool does not begin at a 4KB page";
    if (events.file_pool_base > address_limit || events.file_pool_bytes > address_limit - events.file_pool_base)
        return "the file pool ends above 2^48, the limit of addresses";
    uint64_t block = 0;
    for (size_t i = 0; i < events.list.size(); ++i) {
        const Event& e = events.list[i];
        const auto rule = [&](const std::string& text) { return "event " + std::to_string(i) + " (" + name_of(e.kind) + "): " + text; };
        if (e.block < block) return rule("its block " + std::to_string(e.block) + " is before the block of the event before it");
        if (e.block > header.block_executions) return rule("its block " + std::to_string(e.block) + " is behind the end of the trace");
        if (i < events.at_start && e.block != 0) return rule("it is said to be at the start, but its block is not 0");
        if (const std::string wrong = wrong_event(e, events, header); !wrong.empty()) return rule(wrong);
        block = e.block;
    }
    return {};
}

}  // namespace tessera::trace
