// interval_fuzz.cpp - files of sample units: accepted units are in order, finite and inside the stream.
#include <cmath>

#include "base/error.h"
#include "engine/interval_file.h"
#include "fuzz.h"

using namespace tessera;
using namespace tessera::sim;

namespace {

constexpr uint64_t stream_accesses = 1'000'000;

std::string random_file(fuzz::Random& rng) {
    std::string text = rng() % 16 ? "start_access,warmup_accesses,timed_instructions,weight\n" : "";
    uint64_t start = rng() % 1000;
    for (uint64_t rows = 1 + rng() % 6; rows > 0; --rows) {
        const uint64_t warm = rng() % 1000;
        const char* const weights[] = {"1", "0.5", "3e2", "1e-300"};
        text +=
            std::to_string(start) + "," + std::to_string(warm) + "," + std::to_string(1 + rng() % 5000) + "," + weights[rng() % 4] + "\n";
        start += warm + rng() % 100000;
    }
    if (rng() % 2)
        fuzz::mutate(text, rng,
                     {",", "\n", "nan", "inf", "-1", "0", "1e400", "1e-400", "18446744073709551615", "999999", std::string_view("\0", 1)});
    return text;
}

const char* broken_rule(const std::vector<Interval>& intervals) {
    if (intervals.empty()) return "there is a unit";
    for (size_t i = 0; i < intervals.size(); ++i) {
        const Interval& unit = intervals[i];
        if (!std::isfinite(unit.weight) || unit.weight <= 0) return "weights are positive and finite";
        if (unit.timed_instructions == 0) return "units have a timed part";
        if (unit.start_access >= stream_accesses || unit.warmup_accesses >= stream_accesses - unit.start_access)
            return "timed parts begin in the stream";
        if (i > 0 && unit.start_access < intervals[i - 1].start_access + intervals[i - 1].warmup_accesses) return "units do not overlap";
    }
    return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
    return fuzz::run_reader<Refusal>("interval_fuzz", count, arguments, random_file, [](const std::string& text, fuzz::Random&) {
        return broken_rule(parse_intervals(text, "fuzz.csv", stream_accesses));
    });
}
