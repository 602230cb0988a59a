// SPDX-License-Identifier: GPL-2.0-only
#include "program_events.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "mosalloc/pool_map.h"
#include "tessera/common/error.h"

namespace tessera::tracer {
namespace {

constexpr const char* one_checkout = "build libmosalloc and the tracer from one checkout";

trace::EventKind kind_of(uint64_t call) {
    switch (call) {
        case MOSALLOC_CALL_MMAP: return trace::EventKind::map;
        case MOSALLOC_CALL_MUNMAP: return trace::EventKind::unmap;
        case MOSALLOC_CALL_MREMAP: return trace::EventKind::remap;
        case MOSALLOC_CALL_MPROTECT:
        case MOSALLOC_CALL_PKEY_MPROTECT: return trace::EventKind::protect;
        case MOSALLOC_CALL_MADVISE:
        case MOSALLOC_CALL_POSIX_MADVISE: return trace::EventKind::advise;
        case MOSALLOC_CALL_BRK:
        case MOSALLOC_CALL_SBRK: return trace::EventKind::brk;
        case MOSALLOC_CALL_MLOCK:
        case MOSALLOC_CALL_MLOCK2: return trace::EventKind::lock;
        case MOSALLOC_CALL_MUNLOCK: return trace::EventKind::unlock;
        default:
            throw Error("events", "libmosalloc told of call " + std::to_string(call) + ", which this tracer does not know", one_checkout);
    }
}

}  // namespace

FoundFile find_file(int64_t fd, const std::string& path) {
    FoundFile found;
    std::string whole = path;
    struct stat status = {};
    if (fd >= 0) {
        char link[PATH_MAX];
        const ssize_t size = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), link, sizeof link);
        whole.assign(link, size > 0 ? static_cast<size_t>(size) : 0);
    }
    if (fd >= 0 ? fstat(static_cast<int>(fd), &status) == 0 : stat(path.c_str(), &status) == 0) {
        found.device = status.st_dev;
        found.inode = status.st_ino;
        found.file.size_bytes = static_cast<uint64_t>(std::max<off_t>(status.st_size, 0));
    }
    found.file.name = whole.substr(whole.rfind('/') + 1);
    return found;
}

ProgramEvents::Spans ProgramEvents::read_spans(const std::string& path) {
    const auto map = std::make_unique<mosalloc_pool_map>();
    std::ifstream in(path, std::ios::binary);
    if (!in.read(reinterpret_cast<char*>(map.get()), sizeof *map) || map->magic != MOSALLOC_POOL_MAP_MAGIC ||
        map->file_pool.size_bytes == 0)
        throw Error("pool map " + path, "libmosalloc told of a call before it wrote where its pools are", one_checkout);
    Spans spans{};
    for (const mosalloc_pool& pool : map->pools) spans.base[pool.kind] = pool.base, spans.bytes[pool.kind] = pool.size_bytes;
    spans.base[MOSALLOC_POOL_FILE] = map->file_pool.base;
    spans.bytes[MOSALLOC_POOL_FILE] = map->file_pool.size_bytes;
    return spans;
}

std::vector<ProgramEvents::Part> ProgramEvents::parts(uint64_t address, uint64_t bytes) const {
    std::vector<Part> out;
    const uint64_t end = address + bytes;
    for (uint64_t at = address; at < end;) {
        Part part{trace::EventPool::outside, at, 0, at - address};
        uint64_t until = end;
        for (uint8_t pool = 0; pool < 3; ++pool) {
            const uint64_t base = spans_.base[pool], behind = base + spans_.bytes[pool];
            if (at >= base && at < behind) {
                part.pool = static_cast<trace::EventPool>(pool);
                part.offset_bytes = at - base;
                until = std::min(until, behind);
            } else if (at < base) {
                until = std::min(until, base);
            }
        }
        part.length_bytes = until - at;
        out.push_back(part);
        at = until;
    }
    return out;
}

uint32_t ProgramEvents::number_of(const FoundFile& file) {
    const auto at = std::find(files_.begin(), files_.end(), file);
    if (at != files_.end()) return static_cast<uint32_t>(at - files_.begin()) + 1;
    files_.push_back(file);
    return static_cast<uint32_t>(files_.size());
}

std::vector<ProgramEvents::Part> ProgramEvents::reached(const std::vector<Part>& asked, bool skips_holes) const {
    std::vector<Part> out;
    for (const Part& part : asked) {
        for (const auto& [begin, end] : areas_.mapped(part.pool, part.offset_bytes, part.length_bytes)) {
            const uint64_t begins_at = part.begins_at + (begin - part.offset_bytes);
            const uint64_t so_far = out.empty() ? 0 : out.back().begins_at + out.back().length_bytes;
            if (!skips_holes && begins_at != so_far) return out;
            out.push_back({part.pool, begin, end - begin, begins_at});
        }
    }
    return out;
}

std::vector<trace::Event> ProgramEvents::of(const mosalloc_event& told, const std::string& path) {
    const std::vector<trace::Event> out = made_by(told, path);
    for (const trace::Event& event : out) areas_.apply(event);
    return out;
}

std::vector<trace::Event> ProgramEvents::made_by(const mosalloc_event& told, const std::string& path) {
    trace::Event event;
    event.kind = kind_of(told.call);
    event.protection = static_cast<uint32_t>(told.protection);
    event.flags = static_cast<uint32_t>(told.flags);
    if (told.fd >= 0 || !path.empty()) {
        event.file = number_of(find_(told.fd, path));
        event.file_offset_bytes = told.file_offset;
    }
    if (event.kind == trace::EventKind::brk) {
        event.pool = trace::EventPool::heap;
        event.length_bytes = told.bytes;
        return {event};
    }
    if (event.kind == trace::EventKind::remap) {
        const Part from = parts(told.address, std::max<uint64_t>(told.bytes, 1)).front(),
                   to = parts(told.new_address, told.new_bytes).front();
        event.pool = from.pool;
        event.offset_bytes = from.offset_bytes;
        event.length_bytes = told.bytes;
        event.new_pool = to.pool;
        event.new_offset_bytes = to.offset_bytes;
        event.new_length_bytes = told.new_bytes;
        return {event};
    }
    std::vector<trace::Event> out;
    std::vector<Part> ranges = parts(told.address, told.bytes);
    if (told.at_hole) ranges = reached(ranges, event.kind == trace::EventKind::advise);
    for (const Part& part : ranges) {
        event.pool = part.pool;
        event.offset_bytes = part.offset_bytes;
        event.length_bytes = part.length_bytes;
        if (event.file != 0) event.file_offset_bytes = told.file_offset + part.begins_at;
        out.push_back(event);
    }
    return out;
}

trace::Events ProgramEvents::section(std::vector<trace::Event> later, uint64_t blocks) const {
    trace::Events out;
    out.list = start_ ? *start_ : areas_.events();
    out.at_start = out.list.size();
    for (const trace::Event& event : later)
        if (event.block < blocks) out.list.push_back(event);
    for (const FoundFile& found : files_) out.files.push_back(found.file);
    out.file_pool_base = spans_.base[MOSALLOC_POOL_FILE];
    out.file_pool_bytes = spans_.bytes[MOSALLOC_POOL_FILE];
    return out;
}

}  // namespace tessera::tracer
