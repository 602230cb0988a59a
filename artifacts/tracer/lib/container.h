// container.h - the file around the frames.
//
//   preamble (fixed size) | frame 0 | frame 1 | ... | header text | block table (zstd) | events (zstd) | index
//
// Only traces that were recorded with events have that section; the header has its sizes then.
// The tail comes last because it is complete only after the last frame. The writer adds the preamble at the end, at the
// start of the file, with checksums of itself and of the tail. The index has a checksum for each frame. These checksums
// detect a change of any byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "digest.h"
#include "event_text.h"
#include "tessera/trace/trace.h"

namespace tessera::trace {

// Version 4 has the layout of version 3 and promises more: each memory slot has the size of its access, or 1 byte where that is not
// known (imports, and blocks with more than 128 patterns of accesses), and an atomic read-modify-write has its load before its
// store. The reader refuses versions 1 to 3.
constexpr uint64_t file_magic = 0x3443525453534554;    // "TESSTRC4"
constexpr int version_shift = 56;                      // of the last character
constexpr char version = file_magic >> version_shift;

/// The version of an older format, as a digit; 0 for this one and for other files.
constexpr char older_version(uint64_t magic) {
    const char digit = static_cast<char>(magic >> version_shift);
    const bool alike = ((magic ^ file_magic) & ((uint64_t{1} << version_shift) - 1)) == 0;
    return alike && digit >= '1' && digit < version ? digit : '\0';
}

/// Limits that writers respect and readers enforce, so that a crafted index cannot exhaust memory.
constexpr size_t max_frame_accesses = size_t{1} << 20;
constexpr size_t max_frame_executions = size_t{1} << 20;
constexpr uint64_t max_frame_text_bytes = uint64_t{64} << 20;
constexpr uint64_t max_table_bytes = uint64_t{1} << 32;

struct Preamble {
    uint64_t magic = file_magic;
    uint64_t tail_offset = 0;
    uint64_t header_bytes = 0;
    uint64_t table_bytes = 0;       ///< compressed
    uint64_t table_text_bytes = 0;  ///< before compression
    uint64_t frames = 0;
    Digest tail_digest{};
    Digest self_digest{};  ///< of the fields above
};
static_assert(sizeof(Preamble) == 112, "no padding: the struct is the format");

struct IndexEntry {
    uint64_t offset = 0;
    uint64_t stored_bytes = 0;
    uint64_t text_bytes = 0;  ///< before compression
    uint64_t executions = 0;
    uint64_t accesses = 0;
    uint64_t instructions = 0;
    Digest stored_digest{};   ///< of the bytes in the file: finds damage
    Digest content_digest{};  ///< of the decoded content: goes into the trace's checksum
};
static_assert(sizeof(IndexEntry) == 112, "no padding: the struct is the format");

inline Digest self_digest(const Preamble& preamble) { return digest(&preamble, sizeof preamble - sizeof preamble.self_digest); }

/// The trace's identity: sha256 over the block table, each frame's counts and content digest, and the events as text if
/// the trace has them.
std::string content_checksum(const std::string& table_text, const std::vector<IndexEntry>& index,
                             const std::optional<std::string>& events_text);

std::string table_to_text(const std::vector<StaticBlock>& blocks);
/// What is wrong with the sizes of the block's memory slots; empty if nothing is.
std::string wrong_slots(const StaticBlock& block);
/// False when malformed. Sizes of slots are not checked.
bool table_from_text(const std::string& text, std::vector<StaticBlock>& blocks);

/// Lines `key=value`, so that any language reads them without this library.
std::string header_to_text(const Header& header, const std::optional<EventSizes>& events = {});
/// Returns an empty string, or what is wrong.
std::string header_from_text(const std::string& text, Header& header, std::optional<EventSizes>& events);
/// Stored bytes of the section of events by a header that is not checked yet; 0 without such a line.
uint64_t event_bytes_of(const std::string& header_text);

}  // namespace tessera::trace
