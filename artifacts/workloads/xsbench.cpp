// xsbench - macroscopic cross-section lookups. Kernel and citation: xsbench.h; data: xsbench_data.h; oracle:
// xsbench_check.h. The region of interest is the histories; building the grids lies before it.
#include "xsbench.h"

#include "common/program.h"
#include "prepared_xsbench.h"
#include "xsbench_check.h"
#include "xsbench_data.h"

using namespace tessera::workloads;
using namespace tessera::workloads::xsbench;

namespace {

Outcome run(const Arguments& arguments) {
    const uint64_t nuclides = arguments.text("model") == "large" ? 355 : 68;
    const uint64_t points = arguments.count("gridpoints");
    const uint64_t lookups = arguments.count("lookups-per-particle");
    const uint64_t seed = arguments.count("seed");
    const Shape shape = grid_shape(nuclides, points, seed);
    if (auto done = prepare_or_check("xsbench", arguments, shape, most_grid_bytes(nuclides, points),
                                     [&](Preparation& preparation) { prepare_data(preparation, nuclides, points, seed); }))
        return std::move(*done);
    const auto prepared = open_prepared("xsbench", arguments, shape);
    const SyntheticData synthetic = prepared ? load_data(*prepared, nuclides, points, seed) : make_data(nuclides, points, seed);
    const CrossSections data = synthetic.view();
    AnonymousArray<History> histories("histories", arguments.count("particles"));
    histories.prefault();

    const uint64_t roi_ns = region_of_interest_ns([&] { follow_histories(data, histories.data(), histories.size(), lookups, seed); });

    if (arguments.flag("self-test-corrupt")) histories[0].hash ^= 1;
    const std::string complaint =
        complaint_about(data, {histories.data(), histories.size()}, lookups, seed, arguments.count("check-every"));
    uint64_t checksum = 0;
    for (uint64_t i = 0; i < histories.size(); ++i) checksum += mix64(i, histories[i].hash);
    Result result("xsbench");
    result.add("nuclides", nuclides)
        .add("gridpoints", points)
        .add("lookups", histories.size() * lookups)
        .add("seed", seed)
        .add("footprint_bytes", synthetic.bytes() + histories.bytes())
        .add("roi_ns", roi_ns)
        .add("checksum", checksum);
    return {result, complaint};
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<Parameter> table{{"model",
                                  Kind::choice,
                                  "large",
                                  0,
                                  0,
                                  "size of the Hoogenboom-Martin model: large has 355 nuclides, small has 68",
                                  {"large", "small"}},
                                 {"gridpoints", Kind::count, "11303", 2, 1e7, "number of energies of each nuclide"},
                                 {"particles", Kind::count, "10000", 1, 1e9, "number of histories"},
                                 {"lookups-per-particle", Kind::count, "34", 1, 1e9,
                                  "number of lookups in a history; 1 makes all lookups independent (event-based)"},
                                 {"check-every", Kind::count, "1", 1, 1e9, "verify one of this many histories"},
                                 seed_parameter()};
    add_preparation(table);
    table.push_back(corrupt_parameter());
    return run_program("xsbench", "look up macroscopic cross sections of Monte Carlo neutron transport", table, argc, argv, run);
}
