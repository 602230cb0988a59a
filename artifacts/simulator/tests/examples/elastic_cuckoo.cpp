// elastic_cuckoo.cpp - an elastic cuckoo page table, as an example of a format with contents (Skarlatos et al., ASPLOS 2020).
//
// Each page size has a table of `ways` ways. A way is an array of lines of 64 bytes, each with the entries of eight neighbouring pages. A
// walk loads the line of the page from all ways together; the caches for walks that the paper adds are perfect (assumed: the size is known).
//
// Insertion. A line that no way has goes into way (number of insertions) modulo ways, at its place there. What it displaces goes to
// its place in the next way, and so on.
// Resizing. A table with more lines than 60% of its places begins to resize: each way gets a new array of `growth` times as many lines.
// Each later insertion first moves `moves` lines from the old arrays to the new ones, one way after the other, from line 0 on. A pointer for
// each way says how far it is. A place in the old array below the pointer counts as moved, so a line has one place in each way at any time.
// With all lines moved, the new arrays are the table. Lines without pages are removed; tables do not shrink.
//
// Invariants: each page that the table holds is in exactly one way; a walk has as many loads as there are ways. Not modelled: tables of
// the operating system beside it, the loads of insertions, probes of the other page sizes.
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "os/physical_map.h"
#include "pagetable/table_of_pages.h"

namespace tessera::sim {
namespace {

uint64_t hash(uint64_t line, uint64_t way) {
    uint64_t x = line + (way + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/// The lines of one page size.
class CuckooTable {
public:
    static constexpr uint64_t no_line = ~uint64_t{0};

    CuckooTable(uint64_t ways, uint64_t lines, uint64_t growth, uint64_t moves, uint64_t& room)
        : growth_(growth), moves_(moves), room_(room), ways_(ways), moved_(ways, 0) {
        for (auto& way : ways_) way[0] = array_of(lines);
    }

    void insert(uint64_t line) {
        for (uint64_t i = 0; i < moves_ && is_resizing(); ++i) move_one();
        place(line, insertions_++ % ways_.size());
        if (++lines_ * 10 <= ways_.size() * size(0) * 6 || is_resizing()) return;
        for (auto& way : ways_) way[1] = array_of(growth_ * size(0));
    }
    void remove(uint64_t line) {
        *held(holder(line).value(), line) = no_line;
        --lines_;
    }
    /// The way that has the line.
    std::optional<size_t> holder(uint64_t line) {
        for (size_t way = 0; way < ways_.size(); ++way)
            if (*held(way, line) == line) return way;
        return std::nullopt;
    }
    PhysAddr address(size_t way, uint64_t line) const {
        const auto [array, index] = place_in(way, line);
        return PhysAddr(ways_[way][array].begin + 64 * index);
    }

private:
    struct Array {
        uint64_t begin = 0;
        std::vector<uint64_t> lines;  ///< numbers of lines; no_line: unused
    };
    static constexpr int most_displaced = 1000;

    uint64_t size(int array) const { return ways_[0][array].lines.size(); }
    bool is_resizing() const { return size(1) != 0; }

    Array array_of(uint64_t lines) {
        const uint64_t begin = room_;
        room_ += 64 * lines;
        if (room_ > physical::of_format.end)
            throw Refusal("page_table.format = example-elastic-cuckoo", "its tables are larger than physical::of_format",
                          "map fewer pages");
        return {begin, std::vector<uint64_t>(lines, no_line)};
    }
    /// Array (0: old, or the only one) and index of a line in a way.
    std::pair<size_t, uint64_t> place_in(size_t way, uint64_t line) const {
        const uint64_t number = hash(line, way);
        const bool is_moved = is_resizing() && number % size(0) < moved_[way];
        return {is_moved, number % size(is_moved)};
    }
    uint64_t* held(size_t way, uint64_t line) {
        const auto [array, index] = place_in(way, line);
        return &ways_[way][array].lines[index];
    }
    void place(uint64_t line, size_t way) {
        for (int displaced = 0; displaced < most_displaced; ++displaced, way = (way + 1) % ways_.size()) {
            std::swap(line, *held(way, line));
            if (line == no_line) return;
        }
        throw Refusal("page_table.format = example-elastic-cuckoo", "an insertion displaced " + std::to_string(most_displaced) + " lines",
                      "give it more ways or lines");
    }
    void move_one() {
        const size_t way = next_way_;
        next_way_ = (next_way_ + 1) % ways_.size();
        const uint64_t line = std::exchange(ways_[way][0].lines[moved_[way]++], no_line);
        if (line != no_line) place(line, way);
        if (moved_.back() != size(0)) return;  // the last way is the last one done
        for (auto& arrays : ways_) arrays = {std::move(arrays[1]), Array()};
        std::fill(moved_.begin(), moved_.end(), 0);
    }

    uint64_t growth_, moves_;
    uint64_t& room_;  ///< first address that no array has
    std::vector<std::array<Array, 2>> ways_;
    std::vector<uint64_t> moved_;  ///< by way: lines of the old array
    uint64_t lines_ = 0, insertions_ = 0;
    size_t next_way_ = 0;
};

class ElasticCuckoo final : public TableOfPages {
public:
    ElasticCuckoo(const OwnValues& own, const DesignContext& context) : TableOfPages(context), ways_(own["ways"]) {
        for (int size = 0; size < 3; ++size) tables_.emplace_back(ways_, own["lines"], own["growth"], own["moves"], room_);
    }

    void entries(VirtAddr address, PageSize size, WalkPath& path) override {
        const PageNumber page = page_of(address, size);
        CuckooTable& table = table_of(size);
        const std::optional<size_t> holder = table.holder(page.number / 8);
        if (holds(page) && !holder) throw std::logic_error("the elastic cuckoo table has lost a page");
        path.clear();
        const size_t last = holder.value_or(ways_ - 1);
        const auto read = [&](size_t way) {
            path.push_back({PhysAddr(table.address(way, page.number / 8).value + page.number % 8 * 8), 0, false, 0});
        };
        for (size_t way = 0; way < ways_; ++way)
            if (way != last) read(way);
        read(last);  // the entry that maps the page
    }

private:
    CuckooTable& table_of(PageSize size) { return tables_[size == PageSize::small_4kb ? 0 : size == PageSize::large_2mb ? 1 : 2]; }
    /// Whether the table holds one of the eight pages of the page's line, but for this page.
    bool has_others(PageNumber page) const {
        for (uint64_t number = page.number & ~uint64_t{7}; number <= (page.number | 7); ++number)
            if (number != page.number && holds({number, page.size})) return true;
        return false;
    }
    void insert(PageNumber page) override {
        if (!has_others(page)) table_of(page.size).insert(page.number / 8);
    }
    void remove(PageNumber page) override {
        if (!has_others(page)) table_of(page.size).remove(page.number / 8);
    }

    size_t ways_;
    uint64_t room_ = physical::of_format.begin;
    std::vector<CuckooTable> tables_;  ///< by page size
};

const Registered row(page_table_formats(), "example-elastic-cuckoo", "an elastic cuckoo table: its ways are loaded together",
                     {{"ways", "ways", 3, 8, 4, "Kanellopoulos et al., ASPLOS 2025, Table 4", "Ways of each table"},
                      {"lines", "lines", 8, 1048576, 8192, "Kanellopoulos et al., ASPLOS 2025, Table 4", "Lines of a way at first"},
                      {"growth", "times", 2, 16, 4, "Skarlatos et al., ASPLOS 2020", "Lines of a new array, as a multiple of the old one"},
                      {"moves", "lines", 4, 1000, 10, "assumed", "Places that an insertion moves on while a table is resized"}},
                     [](const OwnValues& own, const DesignContext& context) { return std::make_unique<ElasticCuckoo>(own, context); });

}  // namespace
}  // namespace tessera::sim
