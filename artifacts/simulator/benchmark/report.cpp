#include "report.h"

#include <cstdio>

namespace tessera::sim::benchmark {
namespace {

/// Data accesses a second of one core, one layout at a time. Measured by us, on another machine of this kind, not in this run.
struct Peer {
    const char* name;
    const char *gups, *zipf, *resident;  ///< millions; a range where streams were not told apart
};
const Peer peers[] = {{"ChampSim 2ff2501", "0.0051", "0.0066", "0.162"},
                      {"Virtuoso 8188baf", "0.031", "0.035", "0.158"},
                      {"DynamoRIO TLB simulator (no caches, no walks)", "2.3-2.5", "2.3-2.5", "2.3-2.5"}};

constexpr const char* csv_header =
    "mode,row,stream,isa,layouts,accesses,unit,floor_mega_per_s,engine_mega_per_s,ratio,cpu_seconds,peak_rss_mb,counts,provenance";

}  // namespace

Report::Report(bool csv, const std::string& isa, size_t layouts, size_t accesses)
    : csv_(csv), isa_(isa), layouts_(layouts), accesses_(accesses) {
    if (csv_) std::puts(csv_header);
    else std::printf("haswell, lanes: %s; CPU time, one core; floor and engine in the same run\n", isa_.c_str());
}

void Report::add(const Speed& s) {
    const double ratio = s.engine / s.floor;
    if (csv_)
        std::printf("speed,\"%s\",%s,%s,%zu,%zu,%s,%.2f,%.2f,%.3f,,,%s,measured in this run\n", s.row.c_str(), s.stream.c_str(),
                    isa_.c_str(), layouts_, accesses_, s.unit.c_str(), s.floor, s.engine, ratio, s.counts_equal ? "equal" : "differ");
    else
        std::printf("%-38s %-9s floor %7.1f  engine %8.1f  ratio %6.2f  M %s  %s %s\n", s.row.c_str(), s.stream.c_str(), s.floor, s.engine,
                    ratio, s.unit.c_str(), s.complete ? "H,M,C,R" : "H,M", s.counts_equal ? "equal" : "DIFFER");
    std::fflush(stdout);
}

void Report::add_point(const std::string& mode, const std::string& row, const std::string& stream, size_t accesses, size_t layouts,
                       double seconds, double megabytes) {
    const double speed = double(accesses) * double(layouts) / seconds / 1e6;
    if (csv_)
        std::printf("%s,\"%s\",%s,%s,%zu,%zu,accesses x layouts/s,,%.2f,,%.4f,%.1f,,measured in this run\n", mode.c_str(), row.c_str(),
                    stream.c_str(), isa_.c_str(), layouts, accesses, speed, seconds, megabytes);
    else
        std::printf("%-9s %-6s %-9s %9zu accesses %4zu layouts %9.3f s  %8.1f M accesses x layouts/s  peak RSS %.0f MB\n", mode.c_str(),
                    row.c_str(), stream.c_str(), accesses, layouts, seconds, speed, megabytes);
    std::fflush(stdout);
}

void Report::add_peers() {
    if (!csv_) std::puts("others, one layout at a time, M data accesses/s (measured by us on another machine of this kind, not now):");
    for (const Peer& p : peers) {
        if (!csv_) {
            std::printf("  %-46s gups %s  zipf %s  resident %s\n", p.name, p.gups, p.zipf, p.resident);
            continue;
        }
        const char* speeds[] = {p.gups, p.zipf, p.resident};
        const char* streams[] = {"gups", "zipf", "resident"};
        for (int i = 0; i < 3; ++i)
            std::printf("peer,\"%s\",%s,,1,,accesses x layouts/s,,%s,,,,,measured by us on another machine of this kind\n", p.name,
                        streams[i], speeds[i]);
    }
}

}  // namespace tessera::sim::benchmark
