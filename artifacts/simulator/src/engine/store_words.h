// store_words.h - which store the bytes of a load come from: the last stores by word, the same in all layouts.
//
// Addresses of loads and stores are the stream's, so plain code matches them once for all layouts; whether the store is still
// in the store buffer is a matter of time, which the cores decide. A table of 256 words of eight bytes, direct mapped, holds
// the youngest store of each word. A load is looked up by the word of its first byte. Lines that string instructions touch
// forget their stores. Not modelled: loads whose bytes come from two stores, whose first word another word has displaced, or
// which only their later words match; all of these read the cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::sim {

struct StoreMatch {
    enum class Kind : uint8_t { none, whole, part } kind = Kind::none;
    uint32_t slot = 0;  ///< of the store buffer
};

/// One access of the stream, with the size of its memory slot.
struct SizedAccess {
    uint64_t address, bytes;
    bool is_store, is_string;
};

class StoreWords {
public:
    /// Stores take the slots of a buffer of `buffer_entries` in turn.
    explicit StoreWords(size_t buffer_entries) : buffer_entries_(buffer_entries) {}

    /// The next access in program order. For a load, the store that it matches among those that may still be in the buffer.
    StoreMatch access(const SizedAccess& a) {
        StoreMatch match;
        if (a.is_string) forget_line(a.address);
        else if (a.is_store) remember(a);
        else match = find(a);
        stores_ += a.is_store;
        return match;
    }

    void clear() {
        entries_.assign(entries_.size(), Entry{});
        stores_ = 0;
    }

private:
    struct Entry {
        uint64_t word = ~uint64_t{0}, number = 0, begin = 0, end = 0;
    };
    static constexpr size_t words = 256;

    Entry& entry(uint64_t word) { return entries_[word % words]; }

    void remember(const SizedAccess& a) {
        const uint64_t end = a.address + std::max<uint64_t>(a.bytes, 1);
        for (uint64_t word = a.address >> 3; word <= (end - 1) >> 3; ++word) entry(word) = {word, stores_, a.address, end};
    }

    void forget_line(uint64_t address) {
        const uint64_t first = address >> 6 << 3;
        for (uint64_t word = first; word < first + 8; ++word)
            if (entry(word).word == word) entry(word) = {};
    }

    StoreMatch find(const SizedAccess& a) {
        const Entry& e = entry(a.address >> 3);
        const uint64_t end = a.address + std::max<uint64_t>(a.bytes, 1);
        if (e.word != a.address >> 3 || stores_ - e.number > buffer_entries_) return {};
        if (end <= e.begin || e.end <= a.address) return {};
        const bool whole = e.begin <= a.address && end <= e.end;
        return {whole ? StoreMatch::Kind::whole : StoreMatch::Kind::part, uint32_t(e.number % buffer_entries_)};
    }

    size_t buffer_entries_;
    uint64_t stores_ = 0;  ///< so far
    std::vector<Entry> entries_ = std::vector<Entry>(words);
};

}  // namespace tessera::sim
