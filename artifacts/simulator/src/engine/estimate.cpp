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

/// Cells of one row, in order.
class Cells {
public:
    void add(const std::string& text) { text_ += (first_ ? "" : ",") + text, first_ = false; }
    void add(uint64_t value) { add(std::to_string(value)); }
    void add(double value) { add(whole(value)); }
    template <class Value>
    void add_if(bool known, Value value) {
        if (known) add(value);
        else skip(1);
    }
    void skip(size_t count) {
        while (count-- > 0) add(std::string());
    }
    const std::string& text() const { return text_; }

private:
    std::string text_;
    bool first_ = true;
};

}  // namespace

Estimate ratio_estimate(const std::vector<double>& y, const std::vector<double>& x, double x_total, const std::vector<double>& w) {
    const auto weight = [&](size_t i) { return w.empty() ? 1.0 : w[i]; };
    double sum_y = 0, sum_x = 0;
    for (size_t i = 0; i < y.size(); ++i) sum_y += weight(i) * y[i], sum_x += weight(i) * x[i];
    const double ratio = sum_y / sum_x, n = double(y.size());
    if (y.size() < 2) return {ratio * x_total, std::nan("")};  // the spread of a single unit is unknown
    double squares = 0;
    for (size_t i = 0; i < y.size(); ++i) {
        const double residual = weight(i) * (y[i] - ratio * x[i]);
        squares += residual * residual;
    }
    const double error = std::sqrt(squares * n / (n - 1)) / sum_x;
    return {ratio * x_total, t95(y.size() - 1) * error * x_total};
}

Row estimate_row(const Layout& layout, const LayoutCounts& counts, const trace::Header& header, const SamplePlan& plan, bool has_runtime,
                 bool has_instruction_side) {
    Row row;
    row.layout = layout.name;
    row.has_runtime = has_runtime;
    row.has_instruction_side = has_instruction_side;
    row.has_loads = plan.full() || plan.equal_weights();
    row.stlb_hits = counts.stlb_hits;
    row.stlb_misses = counts.stlb_misses;
    row.instruction_stlb_hits = counts.instruction_stlb_hits;
    row.instruction_stlb_misses = counts.instruction_stlb_misses;
    row.instructions = header.instructions;
    row.accesses = header.accesses;
    if (plan.tlbs()) {
        row.has_loads = row.has_runtime = row.has_walks = false;
        return row;
    }
    std::vector<double> instructions, walk, runtime, weights;
    for (size_t i = 0; i < counts.units.size(); ++i) {
        const UnitCounts& unit = counts.units[i];
        row.timed_instructions += unit.instructions;
        if (unit.instructions == 0) {  // the stream ended before this unit's timed part
            if (!plan.chosen()) continue;
            return failed_row(layout.name, "interval " + std::to_string(i + 1) +
                                               " of the interval file has no instructions: the trace ends in its warm-up");
        }
        instructions.push_back(double(unit.instructions));
        walk.push_back(double(unit.walk_cycles));
        runtime.push_back(double(unit.runtime_cycles));
        weights.push_back(plan.weight(i));
    }
    if (row.timed_instructions == 0)
        return failed_row(layout.name, "the units of the sampling plan have no instructions: the trace is empty");
    row.walk_cycles = ratio_estimate(walk, instructions, double(row.instructions), weights);
    if (has_runtime) row.runtime_cycles = ratio_estimate(runtime, instructions, double(row.instructions), weights);
    if (plan.full()) row.runtime_cycles.ci95 = row.walk_cycles.ci95 = 0;
    const double scale = double(row.instructions) / double(row.timed_instructions);
    row.program_loads = reached(counts.program, scale);
    row.walker_loads = reached(counts.walker, scale);
    row.instruction_walk_cycles = double(counts.instruction_walk_cycles) * scale;
    return row;
}

Row failed_row(const std::string& layout, const std::string& message) {
    Row row;
    row.layout = layout;
    row.status = "failed";
    row.message = message;
    return row;
}

namespace {

/// A column of the cells: its name, and what a row with the status ok has there. A new column is one line here.
struct Column {
    const char* name;
    void (*put)(const Row&, Cells&);
};

template <int Level>
void program_loads(const Row& row, Cells& cells) {
    cells.add_if(row.has_loads, row.program_loads[Level]);
}
template <int Level>
void walker_loads(const Row& row, Cells& cells) {
    cells.add_if(row.has_loads, row.walker_loads[Level]);
}

const Column kColumns[] = {
    {"runtime_cycles", [](const Row& row, Cells& cells) { cells.add_if(row.has_runtime, row.runtime_cycles.value); }},
    {"runtime_cycles_ci95", [](const Row& row, Cells& cells) { cells.add_if(row.has_runtime, row.runtime_cycles.ci95); }},
    {"stlb_hits", [](const Row& row, Cells& cells) { cells.add(row.stlb_hits); }},
    {"stlb_misses", [](const Row& row, Cells& cells) { cells.add(row.stlb_misses); }},
    {"walk_cycles", [](const Row& row, Cells& cells) { cells.add_if(row.has_walks, row.walk_cycles.value); }},
    {"walk_cycles_ci95", [](const Row& row, Cells& cells) { cells.add_if(row.has_walks, row.walk_cycles.ci95); }},
    {"instructions", [](const Row& row, Cells& cells) { cells.add(row.instructions); }},
    {"accesses", [](const Row& row, Cells& cells) { cells.add(row.accesses); }},
    {"timed_instructions", [](const Row& row, Cells& cells) { cells.add(row.timed_instructions); }},
    {"program_l1d_loads", program_loads<0>},
    {"program_l2_loads", program_loads<1>},
    {"program_l3_loads", program_loads<2>},
    {"program_dram_loads", program_loads<3>},
    {"walker_l1d_loads", walker_loads<0>},
    {"walker_l2_loads", walker_loads<1>},
    {"walker_l3_loads", walker_loads<2>},
    {"walker_dram_loads", walker_loads<3>},
    {"instruction_stlb_hits", [](const Row& row, Cells& cells) { cells.add_if(row.has_instruction_side, row.instruction_stlb_hits); }},
    {"instruction_stlb_misses", [](const Row& row, Cells& cells) { cells.add_if(row.has_instruction_side, row.instruction_stlb_misses); }},
    {"instruction_walk_cycles",
     [](const Row& row, Cells& cells) { cells.add_if(row.has_instruction_side && row.has_loads, row.instruction_walk_cycles); }},
};

}  // namespace

std::string row_header() {
    std::string names = "layout,status,message";
    for (const Column& column : kColumns) names += std::string(",") + column.name;
    return names;
}

std::string format_row(const Row& row) {
    Cells cells;
    cells.add(csv_field(row.layout));
    cells.add(row.status);
    cells.add(csv_field(row.message));
    for (const Column& column : kColumns) {
        if (row.status == "ok") column.put(row, cells);
        else cells.skip(1);
    }
    return cells.text();
}

std::string design_header() { return "layout,structure,accesses,hits,lookup_cycles,background_cycles"; }

std::string format_design(const Layout& layout, const LayoutCounts& counts, const trace::Header& header) {
    std::string text;
    for (const StructureCounts& row : counts.design.structures) {
        Cells cells;
        cells.add(csv_field(layout.name));
        cells.add(csv_field(row.name));
        for (uint64_t value : {row.accesses, row.hits, row.lookup_cycles}) cells.add(value);
        cells.skip(1);
        text += cells.text() + "\n";
    }
    const auto& loads = counts.design.background;
    const uint64_t cached = loads[0] + loads[1] + loads[2], all = cached + loads[3];
    if (all == 0) return text;
    uint64_t timed = 0;
    for (const UnitCounts& unit : counts.units) timed += unit.instructions;
    const double scale = double(header.instructions) / double(timed);
    Cells cells;
    cells.add(csv_field(layout.name));
    cells.add("background");
    cells.add(double(all) * scale);
    cells.add(double(cached) * scale);
    cells.skip(1);
    cells.add(double(counts.design.background_cycles) * scale);
    return text + cells.text() + "\n";
}

std::string dram_rows_header() { return "layout,kind,hits,closed,conflicts"; }

std::string format_dram_rows(const Platform& platform, const Layout& layout, const LayoutCounts& counts, const trace::Header& header,
                             const SamplePlan& plan, bool weaves) {
    if (platform.dram.channels == 0) return "";
    uint64_t timed = 0;
    for (const UnitCounts& unit : counts.units) timed += unit.instructions;
    const bool known = timed != 0 && (plan.full() || plan.equal_weights());
    const double scale = known ? double(header.instructions) / double(timed) : 0;
    std::string text;
    const auto line = [&](const char* kind, const DramRows& rows) {
        Cells cells;
        cells.add(csv_field(layout.name));
        cells.add(std::string(kind));
        for (const uint64_t loads : {rows.hits, rows.closed, rows.conflicts}) cells.add_if(known, double(loads) * scale);
        text += cells.text() + "\n";
    };
    const auto of = [&](DramAsker asker) { return counts.rows.of[size_t(asker)]; };
    line("program", of(DramAsker::program));
    if (platform.dram_queues_walks != 0) line("walk", of(DramAsker::walk));
    line("prefetch", of(DramAsker::prefetch));
    if (weaves) line("kernel", counts.kernel.rows.all());
    return text;
}

std::string kernel_header() {
    return "layout,kernel_instructions,kernel_loads,kernel_stores,kernel_stlb_hits,kernel_stlb_misses,kernel_walk_cycles,kernel_cycles,"
           "kernel_l1d_loads,kernel_l2_loads,kernel_l3_loads,kernel_dram_loads,"
           "kernel_walker_l1d_loads,kernel_walker_l2_loads,kernel_walker_l3_loads,kernel_walker_dram_loads";
}

std::string format_kernel(const Layout& layout, const LayoutCounts& counts, const trace::Header& header, bool has_runtime) {
    const KernelCounts& kernel = counts.kernel;
    uint64_t timed = 0;
    for (const UnitCounts& unit : counts.units) timed += unit.instructions;
    const double scale = timed == 0 ? 0 : double(header.instructions) / double(timed);
    Cells cells;
    cells.add(csv_field(layout.name));
    for (uint64_t value : {kernel.instructions, kernel.loads, kernel.stores, kernel.stlb_hits, kernel.stlb_misses}) cells.add(value);
    if (timed == 0) {
        cells.skip(10);
        return cells.text() + "\n";
    }
    cells.add(double(kernel.walk_cycles) * scale);
    has_runtime ? cells.add(double(kernel.cycles) * scale) : cells.skip(1);
    for (const auto& loads : {kernel.program, kernel.walker})
        for (uint64_t load : loads) cells.add(double(load) * scale);
    return cells.text() + "\n";
}

std::string unit_header() { return "layout,unit,start_access,instructions,accesses,stlb_misses,walk_cycles,runtime_cycles"; }

std::string format_units(const Layout& layout, const LayoutCounts& counts, const SamplePlan& plan, bool has_runtime) {
    std::string text;
    for (size_t i = 0; i < counts.units.size(); ++i) {
        const UnitCounts& unit = counts.units[i];
        Cells cells;
        cells.add(csv_field(layout.name));
        for (uint64_t value : {uint64_t(i), plan.start_access(i), unit.instructions, unit.accesses, unit.stlb_misses, unit.walk_cycles})
            cells.add(value);
        has_runtime ? cells.add(unit.runtime_cycles) : cells.skip(1);
        text += cells.text() + "\n";
    }
    return text;
}

}  // namespace tessera::sim
