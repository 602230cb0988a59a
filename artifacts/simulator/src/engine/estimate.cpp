#include "engine/estimate.h"

#include <cmath>

#include "base/text.h"

namespace tessera::sim {
namespace {

/// Two-sided 95% quantile of Student's t (Cornish-Fisher expansion about the normal quantile; 0.2% off at 4 degrees of freedom).
double t95(size_t degrees) {
    static const double exact[] = {12.706, 4.303, 3.182, 2.776};
    if (degrees <= 4) return exact[degrees - 1];
    const double z = 1.959964, v = double(degrees), z3 = z * z * z, z5 = z3 * z * z;
    return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v);
}

std::array<double, 4> reached(const std::array<uint64_t, 4>& served, double scale) {
    std::array<double, 4> loads{};
    double below = 0;
    for (int level = 3; level >= 0; --level) loads[level] = (below += double(served[level])) * scale;
    return loads;
}

std::string whole(double value) { return std::isnan(value) ? "" : std::to_string(std::llround(value)); }

}  // namespace

Estimate ratio_estimate(const std::vector<double>& y, const std::vector<double>& x, double x_total) {
    double sum_y = 0, sum_x = 0;
    for (size_t i = 0; i < y.size(); ++i) sum_y += y[i], sum_x += x[i];
    const double ratio = sum_y / sum_x, n = double(y.size());
    if (y.size() < 2) return {ratio * x_total, std::nan("")};  // one unit says nothing about its spread
    double squares = 0;
    for (size_t i = 0; i < y.size(); ++i) squares += (y[i] - ratio * x[i]) * (y[i] - ratio * x[i]);
    const double error = std::sqrt(squares / (n * (n - 1))) / (sum_x / n);
    return {ratio * x_total, t95(y.size() - 1) * error * x_total};
}

Row estimate_row(const Layout& layout, const LayoutCounts& counts, const trace::Header& header,
                 const SamplePlan& plan, bool has_runtime) {
    Row row;
    row.layout = layout.name;
    row.has_runtime = has_runtime;
    row.stlb_hits = counts.stlb_hits;
    row.stlb_misses = counts.stlb_misses;
    row.instructions = header.instructions;
    row.accesses = header.accesses;
    std::vector<double> instructions, walk, runtime;
    for (const UnitCounts& unit : counts.units) {
        row.timed_instructions += unit.instructions;
        if (unit.instructions == 0) continue;  // the stream ended before this unit
        instructions.push_back(double(unit.instructions));
        walk.push_back(double(unit.walk_cycles));
        runtime.push_back(double(unit.runtime_cycles));
    }
    if (row.timed_instructions == 0) return failed_row(layout.name, "the plan's units hold no instructions: the trace is empty");
    row.walk_cycles = ratio_estimate(walk, instructions, double(row.instructions));
    if (has_runtime) row.runtime_cycles = ratio_estimate(runtime, instructions, double(row.instructions));
    if (plan.full()) row.runtime_cycles.ci95 = row.walk_cycles.ci95 = 0;
    const double scale = double(row.instructions) / double(row.timed_instructions);
    row.program_loads = reached(counts.program, scale);
    row.walker_loads = reached(counts.walker, scale);
    return row;
}

Row failed_row(const std::string& layout, const std::string& message) {
    Row row;
    row.layout = layout;
    row.status = "failed";
    row.message = message;
    return row;
}

std::string row_header() {
    return "layout,status,message,runtime_cycles,runtime_cycles_ci95,stlb_hits,stlb_misses,walk_cycles,walk_cycles_ci95,"
           "instructions,accesses,timed_instructions,program_l1d_loads,program_l2_loads,program_l3_loads,program_dram_loads,"
           "walker_l1d_loads,walker_l2_loads,walker_l3_loads,walker_dram_loads";
}

std::string format_row(const Row& row) {
    std::vector<std::string> cells = {csv_field(row.layout), row.status, csv_field(row.message)};
    if (row.status != "ok") {
        cells.resize(20);
    } else {
        cells.push_back(row.has_runtime ? whole(row.runtime_cycles.value) : "");
        cells.push_back(row.has_runtime ? whole(row.runtime_cycles.ci95) : "");
        cells.push_back(std::to_string(row.stlb_hits));
        cells.push_back(std::to_string(row.stlb_misses));
        cells.push_back(whole(row.walk_cycles.value));
        cells.push_back(whole(row.walk_cycles.ci95));
        cells.push_back(std::to_string(row.instructions));
        cells.push_back(std::to_string(row.accesses));
        cells.push_back(std::to_string(row.timed_instructions));
        for (double loads : row.program_loads) cells.push_back(whole(loads));
        for (double loads : row.walker_loads) cells.push_back(whole(loads));
    }
    std::string text = cells[0];
    for (size_t i = 1; i < cells.size(); ++i) text += "," + cells[i];
    return text;
}

}  // namespace tessera::sim
