#include "engine/interval_file.h"

#include "base/error.h"
#include "base/text.h"

namespace tessera::sim {
namespace {

constexpr std::string_view header = "start_access,warmup_accesses,timed_instructions,weight";

struct Place {  // where a message points
    const std::string& path;
    size_t line;

    [[noreturn]] void refuse(const std::string& rule, std::string_view value, const std::string& remedy) const {
        throw Refusal("intervals " + path + ", line " + std::to_string(line) + ": " + rule, in_quotes(value), remedy);
    }
};

uint64_t whole(const Place& at, const char* column, std::string_view text, uint64_t least) {
    const auto value = whole_number(text);
    if (!value || *value < least)
        at.refuse(std::string(column) + ", a whole number, " + std::to_string(least) + " or more", text, "write a number in this range");
    return *value;
}

double weight_of(const Place& at, std::string_view text) {
    const auto value = real_number(text);
    if (!value || *value <= 0)
        at.refuse("weight, a positive number", text, "write the number of intervals that this one represents (1 for all: equal weights)");
    return *value;
}

}  // namespace

std::vector<Interval> parse_intervals(const std::string& text, const std::string& path, uint64_t accesses) {
    std::vector<Interval> intervals;
    size_t line_number = 0;
    bool have_header = false;
    for (std::string_view raw : split(text, '\n')) {
        const Place at{path, ++line_number};
        const std::string_view line = trim(raw);
        if (line.empty()) continue;
        if (!have_header) {
            if (line != header) at.refuse("the header " + std::string(header), line, "make it the first line");
            have_header = true;
            continue;
        }
        const auto cell = split(line, ',');
        if (cell.size() != 4) at.refuse("4 columns, " + std::string(header), line, "write one value for each column");
        const Interval interval{whole(at, "start_access", cell[0], 0), whole(at, "warmup_accesses", cell[1], 0),
                                whole(at, "timed_instructions", cell[2], 1), weight_of(at, cell[3])};
        // Equality is fine in both checks: a part may consist of blocks without accesses.
        if (interval.start_access > accesses || interval.warmup_accesses > accesses - interval.start_access)
            at.refuse("a timed part within the trace's " + std::to_string(accesses) + " accesses", line,
                      "choose an earlier start_access or a shorter warm-up");
        if (!intervals.empty() && interval.start_access < intervals.back().start_access)
            at.refuse("intervals in the order of the stream", cell[0], "sort the rows by start_access");
        if (!intervals.empty() && interval.start_access < intervals.back().start_access + intervals.back().warmup_accesses)
            at.refuse("no overlap with the interval before it", cell[0],
                      "choose a later start_access; caches keep their contents, so a shorter warm-up is enough");
        intervals.push_back(interval);
    }
    if (intervals.empty()) Place{path, line_number}.refuse("one interval or more below the header", "", "add a row, or use --sampling");
    return intervals;
}

std::vector<Interval> read_intervals(const std::string& path, uint64_t accesses) {
    return parse_intervals(read_text(path, "interval file"), path, accesses);
}

}  // namespace tessera::sim
