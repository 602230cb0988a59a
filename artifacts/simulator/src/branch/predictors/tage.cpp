// tage.cpp - partially tagged tables with geometric history lengths (Seznec, Michaud, "A case for (partially) tagged geometric
// history length branch prediction", JILP 2006).
//
// A base of two-bit counters by pc, and tagged tables whose histories grow geometrically from shortest to longest. The table with
// the longest history that has the branch's tag provides the prediction; the next one, or the base, is the alternative. It is used
// instead of an entry that is new (weak and not useful yet) while use_alt_on_na says that this was better of late.
//
// Learning: the provider's counter moves to the outcome. Its useful bits count how often it was right and the alternative wrong.
// After a misprediction a table of a longer history gets an entry: the first whose entry is not useful, or by the toss of a fixed
// LFSR the next one; if all are useful, all become less so. One of the two useful bits of all entries is cleared in turn every
// 256K branches. Every other branch is an outcome `taken` in the history.
//
// Not modelled: loop predictor, statistical corrector, late updates, histories of wrong paths, bank interleaving.
#include <algorithm>
#include <bit>
#include <cmath>

#include "branch/predictor.h"
#include "branch/predictors/folded_history.h"

namespace tessera::sim {
namespace {

constexpr uint64_t path_bits = 16, reset_branches = uint64_t{1} << 18;

struct Entry {
    uint16_t tag = 0;
    int8_t counter = 0;  ///< -4 to 3; 0 and more: taken
    uint8_t useful = 0;  ///< 0 to 3
};

void move(int8_t& counter, bool up, int8_t least, int8_t most) {
    if (up && counter < most) ++counter;
    if (!up && counter > least) --counter;
}

std::vector<uint32_t> lengths(uint64_t tables, uint64_t shortest, uint64_t longest) {
    if (longest < shortest + tables - 1)
        throw Refusal("branch predictor tage with a longer history in each table",
                      "tables = " + std::to_string(tables) + ", shortest_history = " + std::to_string(shortest) +
                          ", longest_history = " + std::to_string(longest),
                      "set branch_predictor.tage.longest_history to at least shortest_history + tables - 1");
    std::vector<uint32_t> all;
    for (uint64_t t = 0; t < tables; ++t) {
        const double part = tables == 1 ? 0 : double(t) / double(tables - 1);
        const auto length = uint32_t(std::lround(double(shortest) * std::pow(double(longest) / double(shortest), part)));
        all.push_back(all.empty() ? length : std::max(length, all.back() + 1));
    }
    return all;
}

class Tage final : public Predictor {
public:
    explicit Tage(const OwnValues& own)
        : lengths_(lengths(own["tables"], own["shortest_history"], own["longest_history"])),
          log_(uint16_t(own["log2_entries"])),
          slot_mask_(low_bits(own["log2_entries"])),
          tag_mask_(low_bits(own["tag_bits"])),
          base_(size_t{1} << own["log2_base_entries"], 0),
          entries_(lengths_.size() << log_),
          ring_(lengths_.back()),
          index_(own["log2_entries"], lengths_),
          tag_(own["tag_bits"], lengths_),
          tag_again_(own["tag_bits"] - 1, lengths_) {
        for (size_t t = 0; t < count_; ++t) ages_[t] = lengths_[t] - 1;
        for (size_t t = 0; t < lengths_.size(); ++t) path_masks_[t] = low_bits(std::min<uint64_t>(lengths_[t], path_bits));
    }

    bool conditional(uint64_t pc, bool taken) override {
        const uint32_t matches = look_up(pc);
        int8_t& base = base_[(pc ^ (pc >> 2)) & (base_.size() - 1)];
        const size_t provider = matches == 0 ? 0 : size_t(std::bit_width(matches));  // 0: the base, t + 1: table t
        const uint32_t others = matches == 0 ? 0 : matches ^ (uint32_t{1} << (provider - 1));
        const bool alternative = others == 0 ? base >= 0 : entry(std::bit_width(others) - 1).counter >= 0;
        bool predicted = alternative;
        if (provider == 0) {
            move(base, taken, -2, 1);
        } else {
            predicted = learn(entry(provider - 1), alternative, taken);
        }
        if (predicted != taken && !right_but_new_) allocate(provider, taken);
        right_but_new_ = false;
        if (++branches_ % reset_branches == 0) forget((branches_ / reset_branches) % 2 == 0 ? 1 : 2);
        push(pc, taken);
        return predicted;
    }

    void unconditional(uint64_t pc, uint64_t) override { push(pc, true); }

private:
    Entry& entry(size_t table) { return entries_[(table << log_) + slots_[table]]; }

    /// Slots and tags of this branch in all tables; returns the tables that have its tag.
    uint32_t look_up(uint64_t pc) {
        const auto by_index = uint16_t(pc ^ (pc >> 2) ^ (pc >> log_)), by_tag = uint16_t(pc ^ (pc >> 5));
        const PerTable path = path_masks_ & path_;
        slots_ = (index_.values() ^ path ^ (path >> log_) ^ by_index) & slot_mask_;
        tags_ = (tag_.values() ^ (tag_again_.values() << uint16_t{1}) ^ by_tag) & tag_mask_;
        uint32_t matches = 0;
        const Entry* table = entries_.data();
        for (size_t t = 0; t < count_; ++t, table += slot_mask_ + size_t{1}) matches |= uint32_t{table[slots_[t]].tag == tags_[t]} << t;
        return matches;
    }

    /// What the tables say with this provider; teaches it.
    bool learn(Entry& provider, bool alternative, bool taken) {
        const bool own = provider.counter >= 0;
        const bool fresh = provider.useful == 0 && (provider.counter == 0 || provider.counter == -1);
        const bool predicted = fresh && use_alternative_ >= 0 ? alternative : own;
        right_but_new_ = fresh && own == taken;
        if (own != alternative) {
            if (fresh) move(use_alternative_, alternative == taken, -8, 7);
            if (own == taken && provider.useful < 3) ++provider.useful;
            if (own != taken && provider.useful > 0) --provider.useful;
        }
        move(provider.counter, taken, -4, 3);
        return predicted;
    }

    void allocate(size_t first, bool taken) {
        Entry* chosen = nullptr;
        size_t of_table = 0;
        for (size_t t = first; t < lengths_.size(); ++t) {
            if (entry(t).useful != 0) continue;
            chosen = &entry(of_table = t);
            if (toss()) break;
        }
        if (chosen != nullptr) {
            *chosen = {uint16_t(tags_[of_table]), int8_t(taken ? 0 : -1), 0};
            return;
        }
        for (size_t t = first; t < lengths_.size(); ++t) --entry(t).useful;
    }

    bool toss() {
        lfsr_ = uint16_t((lfsr_ >> 1) ^ (lfsr_ & 1 ? 0xB400 : 0));
        return lfsr_ & 1;
    }

    void forget(uint8_t bit) {
        for (Entry& e : entries_) e.useful &= uint8_t(~bit);
    }

    void push(uint64_t pc, bool taken) {
        uint32_t old = 0;
        for (size_t t = 0; t < count_; ++t) old |= ring_.at(ages_[t]) << t;
        PerTable leaving;
        all_or_none(uint16_t(old), leaving);
        ring_.push(taken);
        index_.push(taken, leaving);
        tag_.push(taken, leaving);
        tag_again_.push(taken, leaving);
        path_ = uint16_t((path_ << 1) | (pc & 1));
    }

    std::vector<uint32_t> lengths_;
    const size_t count_ = lengths_.size();
    uint32_t ages_[max_tables] = {};
    uint16_t log_, slot_mask_, tag_mask_;
    std::vector<int8_t> base_;  ///< -2 to 1; 0 and more: taken
    std::vector<Entry> entries_;
    OutcomeRing ring_;
    FoldedHistories index_, tag_, tag_again_;
    uint16_t path_ = 0;
    PerTable path_masks_ = {}, slots_ = {}, tags_ = {};
    int8_t use_alternative_ = 0;
    bool right_but_new_ = false;
    uint16_t lfsr_ = 0xACE1;
    uint64_t branches_ = 0;
};

const char* const l_tage = "assumed: as in Seznec's L-TAGE of 32KB (JILP 2007); no processor's sizes are public";
const char* const middle = "assumed: the middle of the tables of Seznec's L-TAGE of 32KB (JILP 2007)";

const Registered row(predictors(), "tage", "tagged tables with geometric history lengths behind counters by pc",
                     {{"tables", "tables", 1, max_tables, 8, "assumed: eight tables stand in for the twelve of Seznec's L-TAGE (JILP 2007)",
                       "Tagged tables"},
                      {"log2_entries", "log2(entries)", 1, 15, 10, middle, "Entries of a tagged table, as a power of two"},
                      {"tag_bits", "bits", 4, 16, 11, middle, "Tag of an entry"},
                      {"shortest_history", "branches", 1, 1000, 4, l_tage, "History of the first tagged table"},
                      {"longest_history", "branches", 1, 4000, 640, l_tage, "History of the last tagged table"},
                      {"log2_base_entries", "log2(counters)", 1, 20, 14, l_tage, "Counters by pc, as a power of two"}},
                     [](const OwnValues& own) { return std::make_unique<Tage>(own); });

}  // namespace
}  // namespace tessera::sim
