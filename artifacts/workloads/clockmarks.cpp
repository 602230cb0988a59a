// clockmarks - micro-benchmarks of a core: what a simulated core is held against (clockmarks/mark.h).
//
// One process measures a list of marks `--rounds` times, each time in another random order, and prints one CSV row for each
// (`mark,round,units,ns`) before its JSON line. Beside each mark the clock is measured (row `clock` with cycles in place of units).
// A measurement makes a round that is not timed and then one that is. The region of interest holds both, so a recording has them, too.
#include <time.h>

#include <cstdio>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>

#include "clockmarks/mark.h"
#include "common/anonymous_array.h"
#include "common/program.h"
#include "pointer_chase.h"

using namespace tessera::workloads;

namespace {

constexpr uint64_t kClockCycles = 1 << 18;

/// CPU time of this thread, so that other programs on this machine do not add to it.
uint64_t cpu_ns() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

std::vector<Mark> all_marks() {
    std::vector<Mark> all;
    for (const auto& marks :
         {chain_marks(), width_marks(), load_marks(), independent_marks(), store_marks(), crossing_marks(), branch_marks(), string_marks()})
        all.insert(all.end(), marks.begin(), marks.end());
    return all;
}

std::vector<Mark> chosen(const std::string& names) {
    const std::vector<Mark> all = all_marks();
    if (names == "all") return all;
    std::vector<Mark> found;
    std::stringstream words(names);
    for (std::string name; std::getline(words, name, ',');) {
        const size_t before = found.size();
        for (const Mark& mark : all)
            if (name == mark.name) found.push_back(mark);
        if (found.size() == before)
            throw Error("clockmarks: --marks", "there is no mark '" + name + "'", "see clockmarks --list", kExitUsage);
    }
    return found;
}

uint64_t clock_ns(uint64_t operand) {
    const uint64_t begin = cpu_ns();
    volatile uint64_t sink = one_cycle_chain(kClockCycles, operand);
    (void)sink;
    return cpu_ns() - begin;
}

/// A mark with its array, prepared once.
struct Prepared {
    Mark mark;
    std::unique_ptr<AnonymousArray<char>> array;
    Arena arena;
    uint64_t answer;
};

Prepared prepared(const Mark& mark) {
    auto array = std::make_unique<AnonymousArray<char>>("array of a mark", mark.bytes);
    array->prefault();
    const Arena arena{array->data(), mark.bytes};
    mark.prepare(arena);
    return {mark, std::move(array), arena, mark.answer(arena)};
}

struct Measured {
    uint64_t ns = 0;
    bool right = true;
};

Measured measure(const Prepared& p) {
    Measured m;
    region_of_interest_ns([&] {
        m.ns = cpu_ns();  // so that the code of the clock is warm, too
        m.right = p.mark.round(p.arena) == p.answer;
        const uint64_t begin = cpu_ns();
        m.right &= p.mark.round(p.arena) == p.answer;
        m.ns = cpu_ns() - begin;
    });
    return m;
}

Outcome list() {
    std::printf("mark,unit,units,bytes\n");
    for (const Mark& mark : all_marks())
        std::printf("%s,%s,%llu,%llu\n", mark.name, mark.unit, (unsigned long long)mark.units, (unsigned long long)mark.bytes);
    return {Result("clockmarks"), ""};
}

Outcome run(const Arguments& arguments) {
    if (arguments.flag("list")) return list();
    const uint64_t rounds = arguments.count("rounds"), seed = arguments.count("seed");
    std::vector<Prepared> marks;
    for (const Mark& mark : chosen(arguments.text("marks"))) marks.push_back(prepared(mark));
    if (arguments.flag("self-test-corrupt")) marks.front().answer += 1;
    std::printf("mark,round,units,ns\n");
    std::string complaint;
    uint64_t roi_ns = 0;
    for (uint64_t round = 0; round < rounds; ++round) {
        for (size_t i = marks.size(); i-- > 1;) std::swap(marks[i], marks[below(mix64(seed + round, i), i + 1)]);
        for (const Prepared& p : marks) {
            if (rounds > 1)
                std::printf("clock,%llu,%llu,%llu\n", (unsigned long long)round, (unsigned long long)kClockCycles,
                            (unsigned long long)clock_ns(seed + round + 1));
            const Measured m = measure(p);
            if (!m.right) complaint = std::string(p.mark.name) + " gave a wrong answer";
            roi_ns += m.ns;
            std::printf("%s,%llu,%llu,%llu\n", p.mark.name, (unsigned long long)round, (unsigned long long)p.mark.units,
                        (unsigned long long)m.ns);
        }
    }
    Result result("clockmarks");
    result.add("rounds", rounds).add("seed", seed).add("roi_ns", roi_ns);
    return {result, complaint};
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("clockmarks", "time micro-benchmarks of this machine's core",
                       {{"marks", Kind::text, "all", 0, 0, "marks to measure, separated by commas, or all"},
                        {"rounds", Kind::count, "5", 1, 1e6, "measurements of each mark; with 1 the clock is left out, for recording"},
                        {"list", Kind::flag, "", 0, 0, "print all marks as a table and stop"},
                        seed_parameter(),
                        corrupt_parameter()},
                       argc, argv, run);
}
