// log.h - the mapping log: what an imitated operating system did to the pages of one recorded program, block by block.
//
// A log belongs to one trace and one scenario, both named in its header. A record says what happened before a data access. A fault is
// hoisted to the start of the block that causes it, unless memory was reclaimed or moved in this block before: then it stands before its
// own access, as does what was reclaimed. Pages are pages of 4KB from the start of the pool; frames are frames of 4KB of the simulated
// machine. Beside the pools of the trace, a log may have more: the pool of files, and ranges outside the pools (kinds 2, and 3 and more).
//
// File, little endian: 8 bytes `TSTOSLG1`; 8 bytes: length of the header; the header, lines `key = value`; records; 8 bytes each:
// number of records, bytes of the records, checksum (FNV-1a, 64 bits, of all bytes before it). The writer makes a hidden file beside
// the target and renames it at the end, so a log that exists is complete.
//
// The header's `note.format` is 2; other logs are refused.
//
// A record is: a byte of kind (bits 0 to 2), of the number of table frames (3 to 5) and of two signs (6: same block as the record
// before; 7: a number of pages follows); kind 7 there: a byte with the kind (0 to 2), the sign of 1GB (3) and the pool (4 to 7) follows;
// a byte of cause (bits 0 to 3), pool (4), large (5), fallback (6) and write (7). Where a second byte has kind 7 and this one bit 4, the kind is
// 8 plus bits 6 and 7. Then variable
// length integers of 7 bits a byte: blocks and accesses since the record before (unless bit 6), the page minus the one behind the
// record before, the frame minus the one behind it (both with the sign in bit 0), pages (if bit 7), and each table frame minus the one
// before it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tessera/common/error.h"

namespace tessera::os {

enum class Kind : uint8_t {
    map = 0,  ///< pages have consecutive frames from now on; `cause` says why
    unmap = 1,  ///< nothing is mapped in the range
    split = 2,  ///< a 2MB mapping became 512 of 4KB with the same frames
    collapse = 3,  ///< khugepaged put 512 pages into one block
    upgrade = 4,  ///< a fault that changed a right, not the mapping
    call = 5,  ///< a call of the program; `cause` is its trace::EventKind, `frame` the number of areas behind it
    area = 6,  ///< at the end: an area; `frame` has its flags (vm/areas.h)
    count = 7,  ///< at the end: a counter of the kernel; `page` has its number (counters.h), `frame` its value
    area_live = 8,  ///< an area is there from now on, with the flags in `frame`; what other areas had of its range is its own
    area_gone = 9,  ///< no area is in the range any more
    call_begin = 10,  ///< a call of the program begins; its records follow, then its `call`. `cause`, `frame`: as `call`
    source = 11,  ///< behind a fault of cause copy or copy_read: it copied the page in `frame`; `cause` is a Source. None: it copied zeros
};
constexpr uint8_t kinds = 12, first_new_kind = 8;

/// Why a page was mapped: the fault's kind (vm/fault.h), or a move of its mapping (mremap).
enum class Cause : uint8_t {
    moved = 0,  ///< no fault: mremap
    page = 1,  ///< a page of zeros
    zero = 2,  ///< the zero page
    copy = 3,
    reuse = 4,
    swap = 5,  ///< read from swap
    swap_cache = 6,  ///< in the swap cache still, or already
    file = 7,  ///< a page of a file that was in memory
    file_read = 8,  ///< a page of a file that was read
    pool = 9,  ///< a page of hugetlbfs
    around = 10,  ///< no fault of its own: fault-around mapped it
    migrated = 11,  ///< no fault: compaction moved the page to another frame
    copy_read = 12,  ///< a copy of a page of a private file that was read
    policy = 13,  ///< no fault: the policy placed it when the area was made
};
constexpr uint8_t causes = 14;

/// Why a range lost its pages.
enum class Loss : uint8_t { call = 0, reclaimed = 1 };
constexpr uint8_t losses = 2;

/// Where the page that a fault copied was: mapped at the same place before, or in the page cache only.
enum class Source : uint8_t { mapped = 0, cache = 1 };
constexpr uint8_t sources = 2;

/// Pages of zeros without a frame of their own (Linux's zero page) have this one; no other page does.
constexpr uint64_t zero_frame = 0;

/// Pools: heap, anonymous, files, and ranges outside the pools from the fourth on.
constexpr uint8_t file_pool = 2, first_outside_pool = 3, most_pools = 16;

struct Record {
    uint64_t block = 0;  ///< executions of blocks before it
    uint64_t access = 0;  ///< data accesses before it
    Kind kind = Kind::map;
    uint8_t cause = 0;  ///< map, upgrade: Cause; unmap: Loss; call, call_begin: its trace::EventKind; source: Source
    uint8_t pool = 0;  ///< 0 heap, 1 anonymous, 2 files, from 3 on a range outside
    bool large = false;  ///< map: pages of 2MB, or of 1GB
    bool fallback = false;  ///< map: 2MB were allowed, and there was no block
    bool write = false;  ///< the access that caused it was a store
    uint64_t page = 0, pages = 1, frame = 0;
    std::vector<uint32_t> tables =
        {};  ///< frames of the tables that map the page, root first: 4 for 4KB, 3 for 2MB, 2 for 1GB; none: unchanged
    bool gigantic = false;  ///< with `large`: pages of 1GB

    bool operator==(const Record &) const = default;
    bool is_fault() const {
        if (kind != Kind::map) return kind == Kind::upgrade;
        const auto why = static_cast<Cause>(cause);
        return why != Cause::moved && why != Cause::around && why != Cause::migrated && why != Cause::policy;
    }
    /// The disk, or what stands for it, had to read.
    bool is_major() const {
        const auto why = static_cast<Cause>(cause);
        return kind == Kind::map && (why == Cause::swap || why == Cause::file_read || why == Cause::copy_read);
    }
    bool changes_pages() const { return kind <= Kind::collapse; }
};

struct Pool {
    uint8_t kind;  ///< as Record::pool; the pools of the trace come first
    uint64_t base, size_bytes;
    bool operator==(const Pool &) const = default;
};

struct Header {
    std::string scenario;  ///< its name
    std::string scenario_text;  ///< lines `key = value`, all keys
    std::string trace_checksum;  ///< trace::Header::checksum
    std::vector<Pool> pools;
    uint64_t blocks = 0, accesses = 0, instructions = 0;  ///< of the trace
    std::vector<std::pair<std::string, std::string>> notes;  ///< what else the writer states

    bool operator==(const Header &) const = default;
};

/// Kinds and causes as `tessera lab os show` prints them.
const char *name_of(Kind kind);
const char *name_of(Cause cause);
const char *name_of(Loss loss);
const char *name_of(Source source);

/// The digest that identifies a scenario: FNV-1a, 16 hexadecimal digits.
std::string digest_of(const std::string &text);

/// A log that cannot be read or written.
struct LogError : Error {
    LogError(std::string asked, std::string found, std::string remedy)
        : Error(std::move(asked), std::move(found), std::move(remedy), kExitFailed) {}
};

class Writer {
public:
    /// Throws LogError if no file can be made beside `path`.
    Writer(const std::string &path, const Header &header);
    ~Writer();  ///< without finish(), nothing is left
    Writer(const Writer &) = delete;
    /// Records come in order of their blocks.
    void add(const Record &record);
    uint64_t records() const { return records_; }
    void finish();

private:
    void flush();
    std::string path_, temporary_;
    std::FILE *file_ = nullptr;
    std::string buffer_;
    uint64_t checksum_, records_ = 0, bytes_ = 0;
    Record last_;
};

/// The whole file, checked; then records one after the other.
class Reader {
public:
    /// Throws LogError for a file that is no log, cut or damaged.
    explicit Reader(const std::string &path);
    const Header &header() const { return header_; }
    uint64_t records() const { return records_; }
    /// False at the end. The record's vector is reused.
    bool next(Record &record);
    void rewind();

private:
    uint64_t number();
    [[noreturn]] void damaged(const std::string &found) const;
    std::string path_, data_;
    Header header_;
    size_t begin_ = 0, at_ = 0, end_ = 0;
    uint64_t records_ = 0, left_ = 0;
    Record last_;
};

}  // namespace tessera::os
