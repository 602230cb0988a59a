// writer.cpp - collects executions into frames, encodes each when it is full.
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "bytes.h"
#include "container.h"
#include "file.h"
#include "frame_codec.h"
#include "page_set.h"
#include "tessera/trace/trace.h"

namespace tessera::trace {
namespace {

// Level 1: higher levels gain about a tenth in size here and halve the recording rate.
constexpr int compression_level = 1;

/// The compressed bytes lie at the start of `out`, which is only ever grown; returns their number.
size_t compress(const std::string& text, std::string& out) {
    if (out.size() < ZSTD_compressBound(text.size())) out.resize(ZSTD_compressBound(text.size()));
    const size_t size = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), compression_level);
    if (ZSTD_isError(size))
        throw TraceError(std::string("compress a frame: ") + ZSTD_getErrorName(size) + "\n  what to do: free memory and record again");
    return size;
}

}  // namespace

struct Writer::Impl {
    std::string path;
    File file;
    std::vector<StaticBlock> blocks;
    SlotMap slots;
    // The frame being collected: arrays of the largest size, filled from the front.
    std::vector<uint32_t> block_ids = std::vector<uint32_t>(max_frame_executions);
    std::vector<uint16_t> access_counts = std::vector<uint16_t>(max_frame_executions);
    std::vector<uint64_t> addresses = std::vector<uint64_t>(max_frame_accesses);
    std::vector<uint8_t> is_store = std::vector<uint8_t>(max_frame_accesses);
    size_t frame_executions = 0, frame_accesses = 0;
    uint64_t frame_instructions = 0;
    uint64_t kernel_accesses = 0;
    std::vector<uint8_t> is_kernel;  ///< by block
    bool any_kernel = false;
    std::vector<IndexEntry> index;
    PageSet pages;
    EncodeBuffers buffers;
    std::string stored;
    uint64_t offset = sizeof(Preamble);
    uint64_t accesses = 0, stores = 0, instructions = 0, executions = 0;
    bool finished = false;

    Impl(const std::string& target) : path(target), file(File::create(target + ".partial")) {}
    ~Impl() {
        if (!finished) std::remove(file.path().c_str());
    }

    void flush() {
        if (frame_executions == 0) return;
        const FrameContent frame{{block_ids.data(), frame_executions}, {access_counts.data(), frame_executions},
                                 {addresses.data(), frame_accesses}, {is_store.data(), frame_accesses}};
        const std::string& text = encode_frame(frame, slots, buffers);
        const size_t stored_bytes = compress(text, stored);
        IndexEntry entry;
        entry.offset = offset;
        entry.stored_bytes = stored_bytes;
        entry.text_bytes = text.size();
        entry.executions = frame_executions;
        entry.accesses = frame_accesses;
        entry.instructions = frame_instructions;
        entry.stored_digest = digest(stored.data(), stored_bytes);
        entry.content_digest = frame_digest(frame);
        file.write_at(offset, stored.data(), stored_bytes);
        offset += stored_bytes;
        index.push_back(entry);

        for (const uint64_t address : frame.addresses) pages.add(address);
        for (const uint8_t store : frame.is_store) stores += store;
        for (size_t e = 0; any_kernel && e < frame_executions; ++e)
            if (is_kernel[block_ids[e]]) kernel_accesses += access_counts[e];
        accesses += entry.accesses;
        instructions += entry.instructions;
        executions += entry.executions;
        frame_executions = frame_accesses = 0;
        frame_instructions = 0;
    }
};

Writer::Writer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

Writer Writer::create(const std::string& path) { return Writer(std::make_unique<Impl>(path)); }

uint32_t Writer::add_block(StaticBlock block) {
    if (block.slots.size() > UINT16_MAX)
        throw TraceError("block at " + std::to_string(block.pc) + ": " + std::to_string(block.slots.size()) +
                         " memory slots; a block has at most 65535\n  what to do: split the block");
    impl_->slots.add(block);
    impl_->is_kernel.push_back(is_kernel_block(block));
    impl_->any_kernel |= is_kernel_block(block);
    impl_->blocks.push_back(std::move(block));
    return static_cast<uint32_t>(impl_->blocks.size() - 1);
}

Writer::Room Writer::start(uint32_t block, uint16_t count) {
    Impl& w = *impl_;
    if (block >= w.blocks.size()) [[unlikely]]
        throw TraceError("append to trace " + w.path + ": block " + std::to_string(block) + " of " +
                         std::to_string(w.blocks.size()) + "\n  what to do: register blocks with add_block first");
    if (w.frame_accesses + count > max_frame_accesses || w.frame_executions == max_frame_executions) [[unlikely]] w.flush();
    w.block_ids[w.frame_executions] = block;
    w.access_counts[w.frame_executions++] = count;
    w.frame_instructions += w.slots.instructions(block);
    const size_t at = w.frame_accesses;
    w.frame_accesses += count;
    return {w.addresses.data() + at, w.is_store.data() + at};
}

void Writer::append(uint32_t block, const uint64_t* addresses, const uint8_t* is_store, uint16_t count) {
    const Room room = start(block, count);
    std::copy_n(addresses, count, room.addresses);
    for (uint16_t i = 0; i < count; ++i) room.is_store[i] = is_store[i] != 0;
}

void Writer::finish(Header header) {
    Impl& w = *impl_;
    w.flush();
    const std::string table_text = table_to_text(w.blocks);
    header.accesses = w.accesses;
    header.stores = w.stores;
    header.instructions = w.instructions;
    header.block_executions = w.executions;
    header.kernel_accesses = w.kernel_accesses;
    header.distinct_4kb_pages = w.pages.count();
    for (Pool& pool : header.pools) pool.distinct_4kb_pages = w.pages.count(pool.base, pool.base + pool.size_bytes);
    header.checksum = content_checksum(table_text, w.index);

    const std::string header_text = header_to_text(header);
    std::string table;
    table.resize(compress(table_text, table));
    std::string tail = header_text + table;
    for (const IndexEntry& entry : w.index) put(tail, entry);

    Preamble preamble;
    preamble.tail_offset = w.offset;
    preamble.header_bytes = header_text.size();
    preamble.table_bytes = table.size();
    preamble.table_text_bytes = table_text.size();
    preamble.frames = w.index.size();
    preamble.tail_digest = digest(tail.data(), tail.size());
    preamble.self_digest = self_digest(preamble);
    w.file.write_at(w.offset, tail.data(), tail.size());
    w.file.write_at(0, &preamble, sizeof preamble);
    w.file.close();
    if (std::rename(w.file.path().c_str(), w.path.c_str()) != 0)
        throw TraceError("rename " + w.file.path() + " to " + w.path + ": " + std::strerror(errno) +
                         "\n  what to do: give a path whose folder you may write to");
    w.finished = true;
}

}  // namespace tessera::trace
