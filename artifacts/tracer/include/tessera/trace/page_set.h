// page_set.h - which 4KB pages were touched: one bitmap per touched gigabyte, the recent ones cached by their low bits,
// so that random addresses of a large array look nothing up.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tessera::trace {

class PageSet {
public:
    /// Whether the page is new.
    bool add(uint64_t address) {
        const uint64_t gigabyte = address >> 30;
        Recent& recent = recent_[gigabyte % recent_.size()];
        if (gigabyte != recent.gigabyte) [[unlikely]]
            recent = {gigabyte, bits_of(gigabyte)};
        const uint64_t page = address >> 12 & (pages_per_gigabyte - 1);
        uint64_t& word = recent.bits[page / 64];
        const uint64_t bit = uint64_t{1} << page % 64;
        const bool is_new = (word & bit) == 0;
        word |= bit;
        return is_new;
    }

    void add_all(const PageSet& other) {
        for (const auto& [gigabyte, bits] : other.bitmaps_) {
            uint64_t* const ours = bits_of(gigabyte);
            for (uint64_t word = 0; word < words; ++word) ours[word] |= (*bits)[word];
        }
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

    struct Recent {
        uint64_t gigabyte = ~uint64_t{0};  // no address has 64 one bits above bit 30
        uint64_t* bits = nullptr;
    };

    uint64_t* bits_of(uint64_t gigabyte) {
        auto& slot = bitmaps_[gigabyte];
        if (!slot) slot = std::make_unique<Bitmap>(words);
        return slot->data();
    }

    std::unordered_map<uint64_t, std::unique_ptr<Bitmap>> bitmaps_;
    std::array<Recent, 64> recent_;
};

}  // namespace tessera::trace
