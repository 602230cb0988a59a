// trace.h - the reader and writer of recorded traces.
//
// A trace is one capture of a program's region of interest: a table of static basic blocks (instruction
// kinds, register reads and writes, memory slots) and the dynamic stream of block executions with the
// virtual address of every data access. It can be replayed under any layout, because libmosalloc keeps each
// allocation at the same pool offset under every layout. On disk: header, block table, delta-coded zstd
// frames with checksums, index (see artifacts/tracer/README.md). This header is the contract between
// the tracer (writer) and the simulator (reader).
//
// Not modelled: instruction fetch, data values; of the kernel's accesses only its copies to and from the
// program's memory, and those only if the header says kernel_modelled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/common/error.h"
#include "tessera/trace/events.h"

namespace tessera::trace {

/// Pool kinds, named in layout files `brk` and `mmap`.
enum class PoolKind : uint8_t { heap = 0, anon = 1 };
constexpr const char* name_of(PoolKind kind) { return kind == PoolKind::heap ? "brk" : "mmap"; }

/// One pool of libmosalloc in the traced process.
struct Pool {
    PoolKind kind;
    uint64_t base;        ///< virtual address of pool offset 0 (of libmosalloc and imports: aligned to 1GB)
    uint64_t size_bytes;  ///< reserved span
    uint64_t used_bytes;  ///< high-water mark when the recording ended
    uint64_t distinct_4kb_pages = 0;  ///< pages of this pool that hold the first byte of an access; filled in by the writer
};

enum class InsnKind : uint8_t {
    alu = 0,
    multiply = 1,
    divide = 2,
    fp_add = 3,
    fp_multiply = 4,
    fp_divide = 5,
    branch = 6,
    load = 7,
    store = 8,
    load_store = 9,
    nop = 10,
    other = 11,
};

/// How a branch finds its target. Whether it was taken shows in the pc of the next block.
enum class BranchKind : uint8_t {
    none = 0,
    conditional = 1,
    jump = 2,
    indirect_jump = 3,
    call = 4,
    indirect_call = 5,
    ret = 6,
};

/// A `rep movs` or `rep stos` is one `begin` and any number of `middle` instructions, as is the kernel's copy in a system
/// call. Each makes at most one load and one store, whenever one of the two enters another 64-byte line. Their size is that
/// of the element that enters it (of a kernel's copy, the line).
enum class StringPart : uint8_t { none = 0, begin = 1, middle = 2 };

constexpr uint8_t string_line_bytes = 64;

/// Of a data access, at least 1: the longest vectors, and parts of what is longer (xsave).
constexpr uint8_t max_access_bytes = 64;

/// One static instruction. Registers are bits: 0-15 general purpose, 16 flags, 17-32 vector registers.
struct StaticInsn {
    uint64_t reads;          ///< register bit set: all sources, address registers included
    uint64_t writes;         ///< register bit set
    uint64_t address_reads;  ///< the subset of `reads` that forms memory addresses
    InsnKind kind;           ///< alu with memory slots: it also computes; load, store: it only moves
    uint8_t memory_slots;    ///< data accesses of one execution
    uint8_t length_bytes;
    uint64_t early_writes = 0;  ///< the subset of `writes` that needs address registers only, not loaded data: the stack
                                ///< pointer of push, pop, call and ret, the pointers and the count of string instructions
    BranchKind branch = BranchKind::none;  ///< only the last instruction of a block has one
    StringPart string = StringPart::none;
};

/// One memory slot of a block, in program order: an atomic read-modify-write has its load before its store.
struct MemorySlot {
    uint16_t insn;    ///< index into StaticBlock::insns
    uint8_t is_store;
    uint8_t size_bytes;  ///< 1 to max_access_bytes, as executed; 1 where a format of others has no sizes, or the slot is not known
};

struct StaticBlock {
    uint64_t pc;
    std::vector<StaticInsn> insns;
    std::vector<MemorySlot> slots;
};

/// Instructions that one execution retires: further lines of a string instruction count none.
inline uint32_t instructions_of(const StaticBlock& block) {
    uint32_t count = 0;
    for (const StaticInsn& insn : block.insns) count += insn.string != StringPart::middle;
    return count;
}

/// The same of each block.
inline std::vector<uint32_t> instruction_counts(const std::vector<StaticBlock>& blocks) {
    std::vector<uint32_t> counts;
    counts.reserve(blocks.size());
    for (const StaticBlock& block : blocks) counts.push_back(instructions_of(block));
    return counts;
}

/// Blocks that stand for the kernel's copies to and from the program (system calls) have their pc in this page, the
/// last below 2^47, which Linux never gives to a program.
constexpr uint64_t kernel_page = 0x7ffffffff000;
inline bool is_kernel_block(const StaticBlock& block) { return block.pc >> 12 == kernel_page >> 12; }

/// How much of the region of interest the trace has, of a recording that counted the region.
struct RegionCount {
    bool counted = false;            ///< false: the rest is unknown
    uint64_t windows = 0;            ///< that the trace has; 0: the region was only counted
    uint64_t window_accesses = 0;    ///< of each of several windows, at most
    uint64_t gap_accesses = 0;       ///< between two of them
    uint64_t accesses_seen = 0;      ///< of the region while it was counted, recorded or not
    uint64_t instructions_seen = 0;
    bool ended = false;              ///< the region was counted to its end: both are whole
};

/// Which thread of several a recording has. Blocks are QEMU's, of which a trace has some as several blocks.
struct OneThread {
    bool known = false;        ///< false: one thread only, or the recording does not say
    uint32_t number = 0;       ///< by creation; 0 is the main thread
    uint64_t blocks = 0;       ///< executed by it in the region while it was recorded
    uint64_t all_blocks = 0;   ///< executed by all threads in the region
};

struct Header {
    std::string program;          ///< command line of the traced program
    std::string origin;           ///< "qemu", or "champsim": its slots have no sizes
    std::vector<Pool> pools;
    uint64_t accesses = 0;        ///< data accesses in the dynamic stream
    uint64_t stores = 0;          ///< those of them that store
    uint64_t instructions = 0;
    uint64_t block_executions = 0;
    uint64_t distinct_4kb_pages = 0;  ///< that hold the first byte of an access
    uint32_t threads = 1;         ///< that ran in the region; one of them is in the trace
    OneThread thread;             ///< only if there are several
    bool complete_roi = true;     ///< false: stopped at --max-accesses before the ROI ended
    bool kernel_modelled = false; ///< the stream has the accesses of system calls to the program's memory
    uint64_t kernel_accesses = 0; ///< accesses of such blocks, filled in by the writer
    bool stopped = false;         ///< the program was stopped at the limit, so its verifier did not run
    RegionCount region;
    std::optional<uint64_t> outside_accesses;  ///< data accesses in no pool; only imported traces have the number
    std::string checksum;         ///< sha256 (hex) of the content (README: Checksum), independent of compression
};

/// A trace that cannot be read or written; what() names the file, the frame, the byte offset and the remedy.
struct TraceError : Error {
    TraceError(std::string asked, std::string found, std::string remedy)
        : Error(std::move(asked), std::move(found), std::move(remedy), kExitFailed) {}
};

/// One decoded frame: structure of arrays, reused between calls of Reader::next.
///
/// Execution e of the frame is block `block_ids[e]` with `access_counts[e]` accesses; its accesses follow
/// one another in `addresses`. When access_counts[e] equals the block's slot count, access i belongs to slot
/// i; otherwise (a block with too many patterns of predicated vectors) access i belongs to slot min(i, slots-1).
/// `is_store` says whether it is a store or a load; the slot may differ.
struct Frame {
    uint64_t index = 0;
    uint64_t first_instruction = 0;  ///< instructions of the stream before this frame
    uint64_t first_access = 0;
    uint64_t instructions = 0;
    std::vector<uint32_t> block_ids;
    std::vector<uint16_t> access_counts;
    std::vector<uint64_t> addresses;  ///< virtual address of each access
    std::vector<uint8_t> is_store;    ///< 0 load, 1 store, one per access
};

/// Sequential and seekable reader. Not thread safe; open one per thread.
class Reader {
public:
    /// Opens and verifies header and block table. Throws TraceError.
    static Reader open(const std::string& path);
    Reader(Reader&&) noexcept;
    Reader& operator=(Reader&&) noexcept;
    ~Reader();

    const Header& header() const;
    const std::vector<StaticBlock>& blocks() const;
    size_t frame_count() const;

    bool has_events() const;
    /// The program's calls to memory management. Throws TraceError for a trace that was recorded without them.
    const Events& events() const;

    /// Decodes the next frame into `out`; false at the end. Throws TraceError (frame, offset) when damaged.
    bool next(Frame& out);
    /// The next call of next() returns frame `index` (0-based, < frame_count()).
    void seek(size_t index);
    /// Decodes every frame and compares its content, and the whole, with the checksums; throws TraceError.
    /// next() checks only the digest of the stored bytes, which detects damage.
    /// `each` gets every frame.
    void verify(const std::function<void(const Frame&)>& each = {});

private:
    struct Impl;
    explicit Reader(std::unique_ptr<Impl>);
    std::unique_ptr<Impl> impl_;
};

/// Writer used by the QEMU plugin, importers, generators and tests. finish() gives the file the name `path`
/// (file_replacement.h), so a trace that exists is complete; without finish() nothing is left.
class Writer {
public:
    static Writer create(const std::string& path);  ///< throws TraceError when `path` cannot be written
    Writer(Writer&&) noexcept;
    Writer& operator=(Writer&&) noexcept;
    ~Writer();

    /// Registers a block of at least one instruction and returns its id (0, 1, 2, ...).
    uint32_t add_block(StaticBlock block);
    /// Corrects the length of an instruction, for importers that learn it from later records. Throws TraceError for one that is not there.
    void set_length(uint32_t block, size_t insn, uint8_t length_bytes);
    /// Appends one execution with `count` accesses.
    void append(uint32_t block, const uint64_t* addresses, const uint8_t* is_store, uint16_t count);
    /// The same without copying: the caller fills both arrays (`count` elements, stores as 0 or 1) before its next call.
    struct Room {
        uint64_t* addresses;
        uint8_t* is_store;
    };
    Room start(uint32_t block, uint16_t count);
    /// Executions appended so far: the position of an event that happens now.
    uint64_t block_executions() const;
    /// Gives the trace the optional section of events; the last call counts. finish() throws TraceError if they break a rule of events.h.
    void set_events(Events events);
    /// Completes the file (counts, page counts and checksum are filled in here).
    void finish(Header header);

private:
    struct Impl;
    explicit Writer(std::unique_ptr<Impl>);
    std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::trace
