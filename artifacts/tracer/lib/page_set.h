// page_set.h - which 4KB pages were touched: one bitmap per touched gigabyte, the last one cached.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tessera::trace {

class PageSet {
public:
    void add(uint64_t address) {
        if (address >> 30 != gigabyte_) select(address >> 30);
        const uint64_t page = address >> 12 & (pages_per_gigabyte - 1);
        (*bits_)[page / 64] |= uint64_t{1} << page % 64;
    }

    /// Touched pages that overlap [begin, end).
    uint64_t count(uint64_t begin, uint64_t end) const {
        uint64_t total = 0;
        for (const auto& [gigabyte, bits] : bitmaps_)
            for (uint64_t word = 0; word < words; ++word)
                for (uint64_t left = (*bits)[word]; left; left &= left - 1) {
                    const uint64_t at = gigabyte << 30 | (word * 64 + std::countr_zero(left)) << 12;
                    total += at < end && at + 4096 > begin;
                }
        return total;
    }
    uint64_t count() const {
        uint64_t total = 0;
        for (const auto& [gigabyte, bits] : bitmaps_)
            for (const uint64_t word : *bits) total += std::popcount(word);
        return total;
    }

private:
    static constexpr uint64_t pages_per_gigabyte = 1 << 18;
    static constexpr uint64_t words = pages_per_gigabyte / 64;
    using Bitmap = std::vector<uint64_t>;

    void select(uint64_t gigabyte) {
        auto& slot = bitmaps_[gigabyte];
        if (!slot) slot = std::make_unique<Bitmap>(words);
        bits_ = slot.get();
        gigabyte_ = gigabyte;
    }

    std::unordered_map<uint64_t, std::unique_ptr<Bitmap>> bitmaps_;
    uint64_t gigabyte_ = ~uint64_t{0};  // no address has 64 one bits above bit 30
    Bitmap* bits_ = nullptr;
};

}  // namespace tessera::trace
