// container.h - splits a trace into parts, so that a fuzzer can change them and then recompute the checksums.
#pragma once

#include <zstd.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "lib/bytes.h"
#include "lib/container.h"
#include "lib/sha256.h"

namespace tessera::fuzz {

struct Parts {
    trace::Preamble preamble;
    std::string header, table;        ///< table: as text, before compression
    std::optional<std::string> events;  ///< as text
    bool fits_events = true;            ///< the header gets the sizes of changed events
    std::vector<std::string> frames;  ///< as text
    std::vector<trace::IndexEntry> index;
};

inline std::string inflate(const char* from, size_t size, size_t text_bytes) {
    std::string text(text_bytes, '\0');
    if (ZSTD_decompress(text.data(), text.size(), from, size) != text_bytes) std::abort();
    return text;
}

inline std::string deflate(const std::string& text) {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
    return out;
}

/// Of a file that the library's Writer made.
inline Parts take_apart(const std::string& bytes) {
    Parts parts;
    std::memcpy(&parts.preamble, bytes.data(), sizeof parts.preamble);
    const trace::Preamble& p = parts.preamble;
    parts.header = bytes.substr(p.tail_offset, p.header_bytes);
    parts.table = inflate(bytes.data() + p.tail_offset + p.header_bytes, p.table_bytes, p.table_text_bytes);
    trace::Header header;
    std::optional<trace::EventSizes> sizes;
    if (!trace::header_from_text(parts.header, header, sizes).empty()) std::abort();
    if (sizes)
        parts.events = inflate(bytes.data() + p.tail_offset + p.header_bytes + p.table_bytes, sizes->stored_bytes, sizes->text_bytes);
    parts.index.resize(p.frames);
    std::memcpy(parts.index.data(), bytes.data() + bytes.size() - p.frames * sizeof(trace::IndexEntry),
                p.frames * sizeof(trace::IndexEntry));
    for (const trace::IndexEntry& entry : parts.index)
        parts.frames.push_back(inflate(bytes.data() + entry.offset, entry.stored_bytes, entry.text_bytes));
    return parts;
}

/// The header with the sizes that the events have now.
inline std::string with_sizes(const std::string& header, size_t stored_bytes, size_t text_bytes) {
    const std::string key = "\nevents=";
    const size_t at = header.find(key), space = header.find(' ', at);
    if (at == std::string::npos || space == std::string::npos) return header;
    std::string out = header.substr(0, space) + ' ' + std::to_string(stored_bytes) + ' ' + std::to_string(text_bytes) +
                      header.substr(header.find('\n', space));
    const size_t sum = out.rfind("sha256=");
    if (sum == std::string::npos) return out;
    out.resize(sum);
    return out + "sha256=" + trace::sha256_hex(out) + '\n';
}

/// Puts the parts together with sizes, offsets and checksums that fit, then lets `last` change preamble and index and
/// seals them again.
template <typename Last>
std::string seal(Parts parts, Last last) {
    std::string body;
    for (size_t i = 0; i < parts.index.size(); ++i) {
        const std::string stored = deflate(parts.frames[i]);
        trace::IndexEntry& entry = parts.index[i];
        entry.offset = sizeof(trace::Preamble) + body.size();
        entry.stored_bytes = stored.size();
        entry.text_bytes = parts.frames[i].size();
        entry.stored_digest = trace::digest(stored.data(), stored.size());
        body += stored;
    }
    const std::string table = deflate(parts.table), events = parts.events ? deflate(*parts.events) : "";
    if (parts.events && parts.fits_events) parts.header = with_sizes(parts.header, events.size(), parts.events->size());
    trace::Preamble& p = parts.preamble;
    p.tail_offset = sizeof p + body.size();
    p.header_bytes = parts.header.size();
    p.table_bytes = table.size();
    p.table_text_bytes = parts.table.size();
    p.frames = parts.index.size();
    last(p, parts.index);
    std::string tail = parts.header + table + events;
    for (const trace::IndexEntry& entry : parts.index) trace::put(tail, entry);
    // The tail begins where the preamble says, if that is in the file: a crafted offset gets a checksum that fits, too.
    const std::string file = std::string(sizeof p, '\0') + body + tail;
    const size_t from = p.tail_offset < file.size() ? p.tail_offset : file.size();
    p.tail_digest = trace::digest(file.data() + from, file.size() - from);
    p.self_digest = trace::self_digest(p);
    return std::string(reinterpret_cast<const char*>(&p), sizeof p) + body + tail;
}

}  // namespace tessera::fuzz
