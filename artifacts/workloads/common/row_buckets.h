// row_buckets.h - the rows of csr.h by several threads, never all in memory: the same bytes as build_csr makes.
//
// build_csr counts, then places entries at random places of the whole array. Here, each thread draws the edges of a
// range of k once and appends (row, entry) to one of some thousand buckets, each a range of rows. Then each
// bucket alone is counted, placed in the cache and given to a sink, which writes it to a file.
// Order: build_csr fills a row from its end, in ascending k. A bucket is read by ascending thread, and so by ascending
// k; it does not matter how many threads there are.
// Memory: 8 bytes an entry (12 with weights), and 16 KB for each thread and bucket.
// Check: a sum of mixed (row, entry) pairs is taken from the edges as they are drawn, and again from the finished rows.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "common/csr.h"
#include "common/parallel.h"
#include "common/rng.h"

namespace tessera::workloads {

template <class Vertex>
class RowBuckets {
public:
    /// At most 2^31 vertices, so that a row and an entry fit 8 bytes. `most_entries` bounds each fill().
    RowBuckets(uint64_t vertices, uint64_t most_entries, unsigned threads)
        : vertices_(vertices),
          threads_(threads),
          shift_(bucket_bits(vertices)),
          buckets_(((vertices - 1) >> shift_) + 1),
          blocks_("entries of rows by bucket", most_entries / kBlockItems + 1 + buckets_ * threads, Commit::written) {
        // Reserved, not used yet; a hint, as preparing does not depend on huge pages.
        madvise(blocks_.data(), blocks_.bytes(), MADV_HUGEPAGE);
    }

    /// Draws all edges; forgets those of an earlier fill.
    template <class EdgeSource>
    void fill(const EdgeSource& edge, Direction direction) {
        used_blocks_ = 0;
        streams_.assign(threads_, std::vector<Stream>(buckets_));
        std::vector<uint64_t> sums(threads_), counts(threads_);
        in_parallel(threads_, [&](unsigned thread) {
            const EdgeSource mine = edge;  // a source may remember where it is
            std::vector<Stream>& streams = streams_[thread];
            const uint64_t end = share(edge.count(), thread + 1);
            uint64_t sum = 0, count = 0;
            for (uint64_t k = share(edge.count(), thread); k < end; ++k) {
                const auto [from, to] = mine(k);
                if (from == to) continue;
                if (direction != Direction::outgoing) {
                    sum += append(streams, to, csr_entry<Kept>(mine, k, from));
                    ++count;
                }
                if (direction != Direction::incoming) {
                    sum += append(streams, from, csr_entry<Kept>(mine, k, to));
                    ++count;
                }
            }
            sums[thread] = sum;
            counts[thread] = count;
        });
        drawn_ = entries_ = 0;
        for (const uint64_t sum : sums) drawn_ += sum;
        for (const uint64_t count : counts) entries_ += count;
    }

    uint64_t entries() const { return entries_; }

    /// Calls sink(first row, offsets of the rows, first entry, entries) for each bucket, from several threads at once.
    /// The last call's offsets have the end of the last row, too. Returns whether the rows hold the edges drawn.
    template <class Sink>
    bool emit(Sink&& sink) const {
        std::vector<uint64_t> before(buckets_ + 1);
        for (uint64_t bucket = 0; bucket < buckets_; ++bucket) before[bucket + 1] = before[bucket] + items_of(bucket);
        std::atomic<uint64_t> written{0};
        claim_in_parallel(threads_, buckets_, [&](uint64_t bucket) {
            const uint64_t first_row = bucket << shift_;
            const uint64_t rows = std::min(uint64_t{1} << shift_, vertices_ - first_row);
            std::vector<uint64_t> offsets(rows + 1);
            std::vector<Vertex> targets(before[bucket + 1] - before[bucket]);
            place(bucket, offsets, targets);
            written.fetch_add(sum_of(first_row, offsets, targets), std::memory_order_relaxed);
            for (uint64_t& offset : offsets) offset += before[bucket];
            const bool last = bucket + 1 == buckets_;
            sink(first_row, std::span<const uint64_t>(offsets.data(), rows + (last ? 1 : 0)), before[bucket],
                 std::span<const Vertex>(targets));
        });
        return written == drawn_;
    }

private:
    using Kept = std::conditional_t<std::is_integral_v<Vertex>, int32_t, Vertex>;
    struct Item {
        uint32_t row;
        Kept entry;
    };
    static constexpr uint64_t kBlockItems = 2048;
    struct Block {
        Item items[kBlockItems];
    };
    struct Stream {  ///< what one thread appended to one bucket
        Item* next = nullptr;
        Item* end = nullptr;
        std::vector<Block*> blocks;

        uint64_t items() const { return blocks.size() * kBlockItems - static_cast<uint64_t>(end - next); }
    };

    /// Rows of a bucket, as a power of two: at most 1024 buckets, so that their open ends stay in the caches.
    static unsigned bucket_bits(uint64_t vertices) {
        const auto bits = static_cast<unsigned>(std::bit_width(vertices - 1));
        return bits > 10 ? bits - 10 : 0;
    }

    uint64_t share(uint64_t count, unsigned thread) const { return static_cast<uint64_t>(static_cast<uint128>(count) * thread / threads_); }

    static uint64_t mixed(uint64_t row, const Kept& entry) {
        if constexpr (std::is_integral_v<Vertex>) return mix64(row, static_cast<uint64_t>(entry));
        else return mix64(row << 32 | static_cast<uint32_t>(entry.weight), static_cast<uint64_t>(entry.vertex));
    }

    uint64_t append(std::vector<Stream>& streams, int64_t row, const Kept& entry) {
        Stream& stream = streams[static_cast<uint64_t>(row) >> shift_];
        if (stream.next == stream.end) {
            Block* block = &blocks_[used_blocks_.fetch_add(1, std::memory_order_relaxed)];
            stream.blocks.push_back(block);
            stream.next = block->items;
            stream.end = block->items + kBlockItems;
        }
        *stream.next++ = {static_cast<uint32_t>(row), entry};
        return mixed(static_cast<uint64_t>(row), entry);
    }

    uint64_t items_of(uint64_t bucket) const {
        uint64_t items = 0;
        for (const auto& streams : streams_) items += streams[bucket].items();
        return items;
    }

    template <class Use>
    void for_each_item(uint64_t bucket, Use&& use) const {
        for (const auto& streams : streams_) {
            uint64_t left = streams[bucket].items();
            for (const Block* block : streams[bucket].blocks) {
                const uint64_t filled = std::min(left, kBlockItems);
                for (uint64_t i = 0; i < filled; ++i) use(block->items[i]);
                left -= filled;
            }
        }
    }

    /// Counts, sums, places: build_csr for the rows of one bucket.
    void place(uint64_t bucket, std::vector<uint64_t>& offsets, std::vector<Vertex>& targets) const {
        const uint64_t first_row = bucket << shift_;
        for_each_item(bucket, [&](const Item& item) { ++offsets[item.row - first_row]; });
        uint64_t end = 0;
        for (uint64_t& offset : offsets) offset = end += offset;
        for_each_item(bucket, [&](const Item& item) { targets[--offsets[item.row - first_row]] = item.entry; });
    }

    static uint64_t sum_of(uint64_t first_row, const std::vector<uint64_t>& offsets, const std::vector<Vertex>& targets) {
        uint64_t sum = 0;
        for (uint64_t row = 0; row + 1 < offsets.size(); ++row)
            for (uint64_t e = offsets[row]; e < offsets[row + 1]; ++e) sum += mixed(first_row + row, static_cast<Kept>(targets[e]));
        return sum;
    }

    uint64_t vertices_;
    unsigned threads_;
    unsigned shift_;
    uint64_t buckets_;
    AnonymousArray<Block> blocks_;
    std::atomic<uint64_t> used_blocks_{0};
    std::vector<std::vector<Stream>> streams_;
    uint64_t entries_ = 0, drawn_ = 0;
};

}  // namespace tessera::workloads
