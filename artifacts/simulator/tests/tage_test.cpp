// tage_test.cpp - TAGE against a slow one that is written here from the paper: histories as lists of outcomes, hashed bit by bit.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "branch/predictor.h"

namespace tessera::sim::testing {
namespace {

struct Sizes {
    uint64_t tables, log2_entries, tag_bits, shortest, longest, log2_base;
};

std::unique_ptr<Predictor> tage(const Sizes& s) {
    return predictors().make(Chosen("tage", {{"tables", s.tables},
                                             {"log2_entries", s.log2_entries},
                                             {"tag_bits", s.tag_bits},
                                             {"shortest_history", s.shortest},
                                             {"longest_history", s.longest},
                                             {"log2_base_entries", s.log2_base}}));
}

/// Every hash is made from the whole history each time; tables are searched from the longest down.
class SlowTage {
public:
    explicit SlowTage(const Sizes& s) : s_(s), base_(size_t{1} << s.log2_base, 2) {
        double length = double(s.shortest);
        for (uint64_t t = 0; t < s.tables; ++t, length *= std::pow(double(s.longest) / double(s.shortest), 1.0 / double(s.tables - 1))) {
            uint64_t whole = uint64_t(length + 0.5);
            if (t > 0 && whole <= lengths_.back()) whole = lengths_.back() + 1;
            lengths_.push_back(whole);
        }
        tables_.assign(s.tables, std::vector<Line>(size_t{1} << s.log2_entries));
    }

    bool conditional(uint64_t pc, bool taken) {
        std::vector<Line*> lines;
        std::vector<uint64_t> tags;
        for (size_t t = 0; t < s_.tables; ++t) {
            lines.push_back(&tables_[t][slot(t, pc)]);
            tags.push_back(tag(t, pc));
        }
        int provider = -1, other = -1;
        for (int t = int(s_.tables) - 1; t >= 0; --t) {
            if (lines[size_t(t)]->tag != tags[size_t(t)]) continue;
            if (provider < 0) provider = t;
            else if (other < 0) other = t;
        }
        int& base = base_[(pc ^ (pc / 4)) % base_.size()];
        const bool alternative = other < 0 ? base >= 2 : lines[size_t(other)]->counter >= 4;
        bool said = alternative, allocate = true;
        if (provider < 0) {
            base = taken ? std::min(base + 1, 3) : std::max(base - 1, 0);
        } else {
            Line& line = *lines[size_t(provider)];
            const bool own = line.counter >= 4, is_new = line.useful == 0 && (line.counter == 3 || line.counter == 4);
            said = is_new && use_alternative_ >= 8 ? alternative : own;
            if (is_new && own == taken) allocate = false;
            if (own != alternative) {
                if (is_new)
                    use_alternative_ = alternative == taken ? std::min(use_alternative_ + 1, 15) : std::max(use_alternative_ - 1, 0);
                line.useful = own == taken ? std::min(line.useful + 1, 3) : std::max(line.useful - 1, 0);
            }
            line.counter = taken ? std::min(line.counter + 1, 7) : std::max(line.counter - 1, 0);
        }
        if (said != taken && allocate) place(size_t(provider + 1), lines, tags, taken);
        if (++seen_ % 262144 == 0)
            for (auto& table : tables_)
                for (Line& line : table) line.useful = seen_ / 262144 % 2 == 1 ? line.useful % 2 : line.useful / 2 * 2;
        unconditional(pc, taken);
        return said;
    }

    void unconditional(uint64_t pc, bool taken) {
        outcomes_.insert(outcomes_.begin(), taken);
        pc_bits_.insert(pc_bits_.begin(), pc % 2);
        if (outcomes_.size() > s_.longest) outcomes_.pop_back();
        if (pc_bits_.size() > 16) pc_bits_.pop_back();
    }

private:
    struct Line {
        uint64_t tag = 0;
        int counter = 4, useful = 0;
    };

    uint64_t folded(uint64_t length, uint64_t width) const {
        std::vector<bool> bits(width, false);
        for (size_t age = 0; age < length && age < outcomes_.size(); ++age) bits[age % width] = bits[age % width] != outcomes_[age];
        uint64_t value = 0;
        for (size_t i = 0; i < width; ++i) value += uint64_t{bits[i]} << i;
        return value;
    }
    uint64_t slot(size_t t, uint64_t pc) const {
        uint64_t path = 0;
        for (size_t age = 0; age < std::min<uint64_t>(lengths_[t], pc_bits_.size()); ++age) path += uint64_t{pc_bits_[age]} << age;
        const uint64_t all =
            pc ^ (pc >> 2) ^ (pc >> s_.log2_entries) ^ folded(lengths_[t], s_.log2_entries) ^ path ^ (path >> s_.log2_entries);
        return all % (uint64_t{1} << s_.log2_entries);
    }
    uint64_t tag(size_t t, uint64_t pc) const {
        return (pc ^ (pc >> 5) ^ folded(lengths_[t], s_.tag_bits) ^ (folded(lengths_[t], s_.tag_bits - 1) * 2)) %
               (uint64_t{1} << s_.tag_bits);
    }

    void place(size_t from, std::vector<Line*>& lines, const std::vector<uint64_t>& tags, bool taken) {
        std::vector<size_t> free;
        for (size_t t = from; t < lines.size(); ++t)
            if (lines[t]->useful == 0) free.push_back(t);
        for (size_t i = 0; i < free.size(); ++i) {
            const bool low = lfsr_ & 1;
            lfsr_ >>= 1;
            if (low) lfsr_ ^= 0xB400;
            if ((lfsr_ & 1) == 0 && i + 1 < free.size()) continue;
            lines[free[i]]->tag = tags[free[i]];
            lines[free[i]]->counter = taken ? 4 : 3;
            return;
        }
        for (size_t t = from; t < lines.size(); ++t) --lines[t]->useful;
    }

    Sizes s_;
    std::vector<uint64_t> lengths_;
    std::vector<int> base_;  ///< 0 to 3
    std::vector<std::vector<Line>> tables_;
    std::vector<bool> outcomes_, pc_bits_;  ///< youngest first
    int use_alternative_ = 8;
    uint64_t lfsr_ = 0xACE1, seen_ = 0;
};

/// Branches that are random, constant, or repeat one a few before, and jumps; how many predictions differ.
size_t differences(const Sizes& sizes, uint64_t seed, size_t branches, size_t* wrong = nullptr) {
    const auto fast = tage(sizes);
    SlowTage slow(sizes);
    std::mt19937_64 random(seed);
    std::vector<bool> last(64, false);
    size_t different = 0;
    for (size_t i = 0; i < branches; ++i) {
        const uint64_t pc = 0x400000 + random() % 97 * 3;
        if (random() % 9 == 0) fast->unconditional(pc, 0), slow.unconditional(pc, true);
        const uint64_t kind = pc % 5, r = random();
        const bool taken = kind == 0 ? r >> 63 : kind == 1 ? true : kind == 2 ? r % 16 == 0 : last[(i - kind * 3) % 64];
        last[i % 64] = taken;
        const bool a = fast->conditional(pc, taken), b = slow.conditional(pc, taken);
        different += a != b;
        if (wrong != nullptr) *wrong += a != taken;
    }
    return different;
}

TEST(Tage, IsTheSlowOneOnAHundredThousandBranches) {
    size_t wrong = 0;
    EXPECT_EQ(differences({5, 6, 7, 3, 40, 6}, 1, 100000, &wrong), 0u);
    EXPECT_GT(wrong, 5000u);  // the comparison saw mispredictions, so allocations
    EXPECT_LT(wrong, 60000u);
}

TEST(Tage, IsTheSlowOneInOddSizes) {
    EXPECT_EQ(differences({2, 1, 4, 1, 2, 1}, 2, 20000), 0u);       // two histories of one and two branches, two entries each
    EXPECT_EQ(differences({16, 4, 16, 1, 16, 3}, 3, 20000), 0u);    // lengths 1 to 16, each one longer than the one before
    EXPECT_EQ(differences({3, 9, 5, 7, 64, 4}, 4, 20000), 0u);      // a ring of 64 outcomes is full
    EXPECT_EQ(differences({12, 10, 11, 4, 640, 14}, 5, 4000), 0u);  // the sizes of L-TAGE, near the defaults
}

TEST(Tage, UsefulBitsAreClearedEvery256KBranches) { EXPECT_EQ(differences({3, 3, 5, 2, 9, 3}, 6, 530000), 0u); }

TEST(Tage, OneTableIsPossible) {
    const auto p = tage({1, 4, 8, 6, 6, 4});
    unsigned wrong = 0;
    for (int i = 0; i < 4000; ++i) {
        const bool taken = i % 5 != 0, said = p->conditional(0x1234, taken);
        if (i >= 3000) wrong += said != taken;
    }
    EXPECT_EQ(wrong, 0u);  // a loop of five in a history of six
}

TEST(Tage, ALongLoopNeedsALongHistory) {
    // 30 times taken, then not: 29 outcomes tell the exit from the rest.
    for (const auto& [longest, learned] : {std::pair(uint64_t{64}, true), std::pair(uint64_t{20}, false)}) {
        const auto p = tage({4, 10, 12, 4, longest, 10});
        unsigned wrong = 0;
        for (int i = 0; i < 31 * 400; ++i) {
            const bool taken = i % 31 != 30, said = p->conditional(0x1234, taken);
            if (i >= 31 * 300) wrong += said != taken;
        }
        if (learned) EXPECT_EQ(wrong, 0u);
        else EXPECT_GE(wrong, 100u);  // every exit
    }
}

TEST(Tage, HistoriesThatCannotGrowAreRefused) {
    EXPECT_THROW(tage({4, 10, 11, 8, 10, 14}), Refusal);  // 8, 9, 10, 11
    EXPECT_NO_THROW(tage({4, 10, 11, 8, 11, 14}));
}

}  // namespace
}  // namespace tessera::sim::testing
