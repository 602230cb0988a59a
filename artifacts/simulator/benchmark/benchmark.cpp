// benchmark.cpp - engines against floors, on the same streams in the same run: CPU time, one core.
//
//   simulator_benchmark [--accesses N] [--layouts N] [--runs N] [--rows H,M|H,M,C|R|any-design|all] [--csv]    the table, of the shortest of N runs
//   simulator_benchmark --rows designs [--csv]  every translation design against the conventional one on the same engine
//   simulator_benchmark --rows shared [--csv]   twenty designs in one run against the same designs alone
//   simulator_benchmark --rows lanes [--csv]    H, M against the plain form of layouts as lanes, in each instruction set
//   simulator_benchmark --curve accesses|layouts [--csv]   time against accesses 1..16 M, against layouts 1, 2, 4, ... 128
//   simulator_benchmark --memory [--csv]                    peak memory of H, M, C of 54 layouts over 32GB
//
// Exit status 1 when H or M of floor and engine differ. Floors ask a cache level only after a miss above it, as the engines
// do, but have one walk cache and no table above the page directory, so C and R are of the same kind and not equal. The floor of
// "R, everything" is complete: its C and R are the engine's, or the exit status is 1. A ratio below 1 means that the engine is
// slower than the floor.
#include <sys/resource.h>

#include <cstdio>
#include <cstring>

#include "any_design.h"
#include "base/isa.h"
#include "base/text.h"
#include "design_rows.h"
#include "engine/lanes/machine.h"
#include "floor.h"
#include "mmu/design.h"
#include "model_features.h"
#include "mosaics.h"
#include "os/address_space.h"
#include "plain_rows.h"
#include "report.h"
#include "shared_rows.h"
#include "streams.h"
#include "support/platforms.h"

namespace tessera::sim::benchmark {
namespace {

const Sampling tlb_only{false, 1, 0, 1};  // one unit of one block: all else is H and M only
const Registered any_design_row(designs(), any_design_name, "as conventional, run as any design",
                                [](const DesignContext& context) { return designs().make("conventional", context); });
const char* const streams[] = {"gups", "zipf", "resident"};

struct Options {
    size_t accesses = 2'000'000, layouts = 54, runs = 1;
    std::string rows = "all", curve;
    bool memory = false, csv = false;
};

double peak_megabytes() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return double(usage.ru_maxrss) / 1024;
}

/// Groups of the lane width, as tessera-sim run makes them. Returns CPU seconds.
double run(const char* engine, const Platform& platform, MemoryStream& stream, const std::vector<Layout>& layouts, const Sampling& sampling,
           std::vector<LayoutCounts>& counts) {
    const double begin = cpu_seconds();
    for (size_t first = 0; first < layouts.size(); first += max_lanes) {
        const std::vector<Layout> group(layouts.begin() + long(first), layouts.begin() + long(std::min(first + max_lanes, layouts.size())));
        for (LayoutCounts& c : testing::simulate(engine, platform, stream, group, sampling)) counts.push_back(std::move(c));
    }
    return cpu_seconds() - begin;
}

class Bench {
public:
    Bench(const Options& options, const std::string& stream_name)
        : options_(options),
          name_(stream_name),
          stream_(make_stream(stream_name, options.accesses)),
          layouts_(Mosaics(pool_bytes).make(options.layouts)) {
        for (const trace::Frame& frame : stream_.frames()) {
            for (uint64_t address : frame.addresses) input_.offsets.push_back(address - testing::heap_base);
            input_.block_ids.insert(input_.block_ids.end(), frame.block_ids.begin(), frame.block_ids.end());
        }
        input_.blocks = &stream_.blocks();
    }

    /// False when H or M differ.
    bool all_rows(Report& report) {
        bool same = true;
        if (wanted("H,M")) same &= row(report, "H,M", floor_hm, "partial", testing::haswell(), tlb_only, 1);
        if (wanted("H,M,C")) same &= row(report, "H,M,C", floor_hmc, "partial", testing::haswell(), {}, 1);
        if (wanted("R"))
            for (const Feature& feature : features) {
                Platform platform = testing::haswell();
                feature.enable(platform);
                const bool complete = feature.enable == everything;
                const bool equal = row(report, feature.name, complete ? floor_everything : floor_r, "timing", platform, {},
                                       6);  // streams.h: six instructions an access
                same &= equal || (platform.l1i.entries != 0 && !complete);  // code pages share the STLB: H and M are then others
            }
        if (wanted("any-design"))
            for (const auto& [feature, engine] : any_design_rows) {
                Platform platform = testing::haswell();
                feature.enable(platform);
                const bool with_clock = std::strcmp(engine, "timing") == 0;
                same &= row(report, feature.name, with_clock ? floor_r : floor_hmc, engine, platform, {}, 1) || platform.l1i.entries != 0;
            }
        return same;
    }

private:
    bool wanted(const std::string& row) const { return options_.rows == "all" || options_.rows == row; }

    /// The floor's time, one layout after the other; the same floor serves all rows that have it.
    double floor_seconds(FloorCounts (*floor)(const FloorInput&), const Platform& platform) {
        if (floor == last_floor_) return last_seconds_;
        last_floor_ = floor;
        return last_seconds_ = shortest_seconds(options_.runs, [&] {
                   floor_counts_.clear();
                   if (floor == floor_everything) predict(input_, platform);
                   for (const Layout& layout : layouts_) {
                       const AddressSpace space(stream_.header().pools, layout);
                       input_.region_is_2mb.clear();
                       for (uint64_t at = 0; at < pool_bytes; at += 2 * mib)
                           input_.region_is_2mb.push_back(space.page_size(VirtAddr(testing::heap_base + at)) == PageSize::large_2mb);
                       floor_counts_.push_back(floor(input_));
                   }
               });
    }

    bool row(Report& report, const char* name, FloorCounts (*floor)(const FloorInput&), const char* engine, const Platform& platform,
             const Sampling& sampling, unsigned work_per_access) {
        const double floor_time = floor_seconds(floor, platform);
        const double work = double(input_.offsets.size()) * double(layouts_.size()) * work_per_access / 1e6;
        std::vector<LayoutCounts> counts;
        const double engine_time =
            shortest_seconds(options_.runs, [&] { counts.clear(), run(engine, platform, stream_, layouts_, sampling, counts); });
        bool same = true;
        for (size_t i = 0; i < layouts_.size(); ++i) {
            same &= floor_counts_[i].hits == counts[i].stlb_hits && floor_counts_[i].misses == counts[i].stlb_misses;
            if (floor != floor_everything) continue;
            same &= floor_counts_[i].walk_cycles == counts[i].units[0].walk_cycles &&
                    floor_counts_[i].runtime_cycles == counts[i].units[0].runtime_cycles;
        }
        const char* unit = work_per_access == 1 ? "accesses x layouts/s" : "instructions x layouts/s";
        report.add({name, name_, unit, work / floor_time, work / engine_time, same, floor == floor_everything});
        return same;
    }

    const Options& options_;
    std::string name_;
    MemoryStream stream_;
    std::vector<Layout> layouts_;
    FloorInput input_;
    FloorCounts (*last_floor_)(const FloorInput&) = nullptr;
    double last_seconds_ = 0;
    std::vector<FloorCounts> floor_counts_;
};

void point(Report& report, const std::string& mode, const char* row, const Sampling& sampling, size_t accesses, size_t layouts,
           uint64_t pool) {
    MemoryStream stream = make_stream("gups", accesses, pool);
    std::vector<LayoutCounts> counts;
    const double seconds = run("partial", testing::haswell(), stream, Mosaics(pool).make(layouts), sampling, counts);
    report.add_point(mode, row, "gups", accesses, layouts, seconds, peak_megabytes());
}

int curves(Report& report, const Options& o) {
    const auto both = [&](size_t accesses, size_t layouts) {
        point(report, o.curve, "H,M", tlb_only, accesses, layouts, pool_bytes);
        point(report, o.curve, "H,M,C", {}, accesses, layouts, pool_bytes);
    };
    if (o.curve == "accesses")
        for (size_t accesses = 1'000'000; accesses <= 16'000'000; accesses *= 2) both(accesses, o.layouts);
    else
        for (size_t layouts = 1; layouts <= 128; layouts *= 2) both(o.accesses, layouts);
    return 0;
}

int usage() {
    std::fputs(
        "simulator_benchmark: unknown option or value\n"
        "  what to do: run simulator_benchmark [--accesses N] [--layouts N] [--runs N] "
        "[--rows H,M|H,M,C|R|any-design|lanes|designs|shared|all] [--csv], "
        "or --curve accesses|layouts, or --memory\n",
        stderr);
    return 2;
}

bool parse(int argc, char** argv, Options& o) {
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
        const auto number = whole_number(value);
        if (option == "--csv") o.csv = true;
        else if (option == "--memory") o.memory = true;
        else if (option == "--accesses" && number && *number > 0) o.accesses = *number, ++i;
        else if (option == "--runs" && number && *number > 0) o.runs = *number, ++i;
        else if (option == "--layouts" && number && *number > 0) o.layouts = *number, ++i;
        else if (option == "--rows" &&
                 std::string(" H,M H,M,C R any-design lanes designs shared all ").find(" " + value + " ") != std::string::npos)
            o.rows = value, ++i;
        else if (option == "--curve" && (value == "accesses" || value == "layouts")) o.curve = value, ++i;
        else return false;
    }
    return true;
}

}  // namespace
}  // namespace tessera::sim::benchmark

int main(int argc, char** argv) {
    using namespace tessera::sim;
    benchmark::Options options;
    if (!benchmark::parse(argc, argv, options)) return benchmark::usage();
    benchmark::Report report(options.csv, chosen_isa(), options.layouts, options.accesses);
    if (options.memory) return benchmark::point(report, "memory", "H,M,C", {}, options.accesses, options.layouts, uint64_t{32} << 30), 0;
    if (!options.curve.empty()) return benchmark::curves(report, options);
    bool same = true;
    if (options.rows == "lanes" || options.rows == "all")
        same = benchmark::plain_rows(report, options.accesses, options.layouts, options.runs);
    if (options.rows == "lanes") return same ? 0 : 1;
    if (options.rows == "designs" || options.rows == "all") same &= benchmark::design_rows(report, options.accesses, options.runs);
    if (options.rows == "designs") return same ? 0 : 1;
    if (options.rows == "shared" || options.rows == "all") same &= benchmark::shared_rows(report, options.accesses, options.runs);
    if (options.rows == "shared") return same ? 0 : 1;
    for (const char* name : benchmark::streams) {
        benchmark::Bench bench(options, name);
        same &= bench.all_rows(report);
    }
    report.add_peers();
    return same ? 0 : 1;
}
