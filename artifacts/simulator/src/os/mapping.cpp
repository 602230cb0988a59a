// mapping.cpp - reads a mapping file in one pass over its bytes and checks the rules of docs/reference/mappings.md.
//
// A plain line (at most 18 digits in a number) is read at once. Any other line is read by its cells, which accepts leading
// zeros and names the rule that the line breaks. The file has no blank lines, so row i is line i + 2. Rules apply in this order:
// the grammar of all lines; the rules of a row and the one above it; the rules of the epochs; the pools of the trace.
// tests/mapping_test.cpp has an example of each rule.
#include "os/mapping.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include "base/text.h"
#include "os/mapping_epochs.h"
#include "os/mapping_rules.h"

namespace tessera::sim {
namespace {

namespace rules = mapping_rules;

constexpr uint64_t page_limit = uint64_t{1} << 36, frame_limit = uint64_t{1} << 40, trace_frame_limit = uint64_t{1} << 36;
constexpr uint64_t number_limit = uint64_t{1} << 63;
constexpr size_t plain_digits = 18;  // these fit into 64 bits

using mapping_epochs::pages_in;

const char* size_name(PageSize size) { return size == PageSize::small_4kb ? "4KB" : size == PageSize::large_2mb ? "2MB" : "1GB"; }

struct Line {
    uint64_t epoch = 0;
    MappingRow row{};
};

class Reader {
public:
    Reader(const std::string& text, const std::string& path) : path_(path), at_(text.data()), end_(at_ + text.size()) {}

    std::vector<MappingEpoch> epochs() {
        const std::string_view first = next_line();
        if (first != rules::header_line) rules::refuse(rules::header, path_, 1, "header", first);
        std::vector<MappingEpoch> found;
        std::optional<Fault> fault;  // the grammar of later lines comes first
        Line above, line;
        for (; at_ != end_; ++rows_, above = line) {
            if (!plain(line)) line = by_cells(next_line());
            if (!fault) fault = fault_of(line, rows_ > 0 ? &above : nullptr);
            if (fault) continue;
            if (found.empty() || found.back().access != line.epoch) {
                found.push_back({line.epoch, {}});
                if (rows_ == 0) found[0].rows.reserve(2 + std::count(at_, end_, '\n'));  // most files have one epoch
            }
            found.back().rows.push_back(line.row);
        }
        if (rows_ == 0) rules::refuse(rules::no_rows, path_, 1, "epoch", "");
        if (fault) rules::refuse(*fault->rule, path_, fault->line, fault->column, fault->value);
        if (found[0].access != 0) rules::refuse(rules::first_epoch, path_, 2, "epoch", std::to_string(found[0].access));
        return found;
    }

private:
    struct Fault {
        const rules::Rule* rule;
        size_t line;
        const char* column;
        std::string value;
    };

    /// The text up to LF or the end, without one CR.
    std::string_view next_line() {
        const void* found = at_ == end_ ? nullptr : std::memchr(at_, '\n', end_ - at_);
        const char* stop = found ? static_cast<const char*>(found) : end_;
        std::string_view line(at_, stop - at_);
        at_ = found ? stop + 1 : end_;
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        return line;
    }

    /// 1 to 18 digits and a comma. The text ends with NUL, which is neither.
    static bool number(const char*& at, uint64_t& value) {
        const char* first = at;
        for (value = 0; static_cast<unsigned char>(*at - '0') < 10 && at - first < static_cast<ptrdiff_t>(plain_digits); ++at)
            value = value * 10 + static_cast<unsigned char>(*at - '0');
        return at != first && *at++ == ',';
    }
    static bool word(const char*& at, const char* text) {
        const char* c = at;
        for (; *text != 0; ++text, ++c)
            if (*c != *text) return false;
        at = c;
        return true;
    }
    static bool size(const char*& at, PageSize& size) {
        if (word(at, "4KB")) size = PageSize::small_4kb;
        else if (word(at, "2MB")) size = PageSize::large_2mb;
        else if (word(at, "1GB")) size = PageSize::huge_1gb;
        else return false;
        return true;
    }

    /// Reads a line of the usual form. Else nothing moves.
    bool plain(Line& line) {
        const char* at = at_;
        MappingRow& row = line.row;
        if (!number(at, line.epoch)) return false;
        if (word(at, "mmap,")) row.pool = trace::PoolKind::anon;
        else if (word(at, "brk,")) row.pool = trace::PoolKind::heap;
        else return false;
        if (!number(at, row.page)) return false;
        row.mapped = *at != ',';
        row.frame = 0;
        if (!row.mapped) ++at;
        else if (!number(at, row.frame)) return false;
        if (!number(at, row.pages) || !size(at, row.size)) return false;
        if (*at == '\r') ++at;
        if (at != end_ && *at++ != '\n') return false;
        at_ = at;
        return true;
    }

    Line by_cells(std::string_view text) const {
        const size_t number_of_line = rows_ + 2;
        const std::vector<std::string_view> cells = split(text, ',');
        if (cells.size() != 6) rules::refuse(rules::columns, path_, number_of_line, "row", text);
        Line line;
        MappingRow& row = line.row;
        if (cells[1] != "brk" && cells[1] != "mmap") rules::refuse(rules::pool, path_, number_of_line, "pool", cells[1]);
        row.pool = cells[1] == "brk" ? trace::PoolKind::heap : trace::PoolKind::anon;
        const auto value_of = [&](std::string_view cell, const char* column) {
            if (cell.empty() || cell.find_first_not_of("0123456789") != cell.npos)
                rules::refuse(rules::number, path_, number_of_line, column, cell);
            const std::string_view digits = cell.substr(std::min(cell.find_first_not_of('0'), cell.size() - 1));
            const std::optional<uint64_t> value = whole_number(digits);
            if (!value || *value >= number_limit) rules::refuse(rules::range, path_, number_of_line, column, cell);
            return *value;
        };
        line.epoch = value_of(cells[0], "epoch");
        row.page = value_of(cells[2], "page");
        row.mapped = !cells[3].empty();
        row.frame = row.mapped ? value_of(cells[3], "frame") : 0;
        row.pages = value_of(cells[4], "pages");
        const std::string name(cells[5]);
        const char* at = name.c_str();
        if (!size(at, row.size) || at != name.c_str() + name.size())
            rules::refuse(rules::page_size, path_, number_of_line, "page_size", cells[5]);
        return line;
    }

    std::optional<Fault> fault_of(const Line& line, const Line* above) const {
        const MappingRow& row = line.row;
        const auto broken = [&](const rules::Rule& rule, const char* column, auto value) {
            if constexpr (std::is_integral_v<decltype(value)>) return Fault{&rule, rows_ + 2, column, std::to_string(value)};
            else return Fault{&rule, rows_ + 2, column, value};
        };
        if (row.page >= page_limit) return broken(rules::range, "page", row.page);
        if (row.pages >= page_limit || row.pages == 0) return broken(rules::range, "pages", row.pages);
        if (row.frame >= frame_limit) return broken(rules::range, "frame", row.frame);
        const uint64_t pages = pages_in(row.size);
        if (!row.mapped && pages != 1) return broken(rules::unmapped_size, "page_size", size_name(row.size));
        if (row.page % pages) return broken(rules::alignment, "page", row.page);
        if (row.frame % pages) return broken(rules::alignment, "frame", row.frame);
        if (row.pages % pages) return broken(rules::alignment, "pages", row.pages);
        if (above == nullptr || line.epoch > above->epoch) return {};
        if (line.epoch < above->epoch) return broken(rules::unsorted, "epoch", line.epoch);
        if (row.pool < above->row.pool) return broken(rules::unsorted, "pool", name_of(row.pool));
        if (row.pool > above->row.pool) return {};
        if (row.page <= above->row.page) return broken(rules::unsorted, "page", row.page);
        if (row.page < above->row.page + above->row.pages) return broken(rules::overlap, "page", row.page);
        return {};
    }

    const std::string& path_;
    const char *at_, *end_;
    size_t rows_ = 0;
};

void check_place(const MappingRow& row, size_t line, const std::string& path, const std::vector<trace::Pool>& pools) {
    const auto pool = std::find_if(pools.begin(), pools.end(), [&](const trace::Pool& p) { return p.kind == row.pool; });
    if (pool == pools.end()) rules::refuse(rules::no_pool, path, line, "pool", name_of(row.pool));
    const uint64_t pages = pool->size_bytes / 4096 + (pool->size_bytes % 4096 != 0);
    if (row.page + row.pages > pages)
        rules::refuse(rules::outside_pool, path, line, "pages", std::to_string(row.pages),
                      ", which has " + std::to_string(pages) + " pages of 4KB in the trace");
    if (row.mapped && row.frame + row.pages > trace_frame_limit)
        rules::refuse(rules::frame_limit, path, line, "frame", std::to_string(row.frame));
    if (pool->base % bytes_of(row.size).value != 0)
        rules::refuse(rules::pool_base, path, line, "page_size", size_name(row.size),
                      ", and is " + std::to_string(pool->base) + " in the trace");
}

}  // namespace

Mapping parse_mapping(const std::string& text, const std::string& path, const std::vector<trace::Pool>& pools) {
    Mapping mapping{layout_name(path), Reader(text, path).epochs()};
    mapping_epochs::check_epochs(mapping.epochs, path);
    size_t line = 2;
    for (const MappingEpoch& epoch : mapping.epochs)
        for (const MappingRow& row : epoch.rows) check_place(row, line++, path, pools);
    return mapping;
}

Mapping read_mapping(const std::string& path, const std::vector<trace::Pool>& pools) {
    return parse_mapping(read_text(path, "mapping"), path, pools);
}

Layout layout_of(std::shared_ptr<const Mapping> mapping) {
    std::string name = mapping->name;
    return {std::move(name), {}, std::move(mapping)};
}

}  // namespace tessera::sim
