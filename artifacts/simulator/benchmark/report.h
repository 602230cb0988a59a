// report.h - prints the benchmark's results: a text table, or CSV for the report.
#pragma once

#include <cstddef>
#include <ctime>
#include <string>

namespace tessera::sim::benchmark {

/// Of this process and all its threads.
inline double cpu_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// CPU seconds of the shortest of some runs: what other programs on the machine do to a run only adds to its time.
template <class Run>
double shortest_seconds(size_t runs, const Run& run) {
    double shortest = 0;
    for (size_t i = 0; i < runs; ++i) {
        const double begin = cpu_seconds();
        run();
        const double seconds = cpu_seconds() - begin;
        if (i == 0 || seconds < shortest) shortest = seconds;
    }
    return shortest;
}

/// Speeds are in millions of work units a second; a unit is an access (or instruction) under one layout.
struct Speed {
    std::string row, stream, unit;
    double floor, engine;
    bool counts_equal;  ///< H and M of engine and floor; with `complete` also C and R
    bool complete = false;
};

class Report {
public:
    Report(bool csv, const std::string& isa, size_t layouts, size_t accesses);
    void add(const Speed& speed);
    /// Of the rows that follow.
    void set_isa(const std::string& isa) { isa_ = isa; }
    /// A point of a curve: CPU time of an engine's whole run. mode: "accesses", "layouts" or "memory".
    void add_point(const std::string& mode, const std::string& row, const std::string& stream, size_t accesses, size_t layouts,
                   double seconds, double megabytes);
    /// Published and measured speeds of other simulators, labelled with where they come from.
    void add_peers();

private:
    bool csv_;
    std::string isa_;
    size_t layouts_, accesses_;
};

}  // namespace tessera::sim::benchmark
