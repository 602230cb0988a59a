// gups - random accesses to one array: reads (random_read.h) or HPCC's updates (random_update.h).
#include <bit>

#include "common/anonymous_array.h"
#include "common/program.h"
#include "random_read.h"
#include "random_update.h"

using namespace tessera::workloads;

namespace {

Outcome reads(AnonymousArray<uint64_t>& array, const Arguments& arguments) {
    const uint64_t elements = array.size();
    const uint64_t count = arguments.count("reads");
    const uint64_t seed = arguments.count("seed");
    const bool unwritten = arguments.flag("unwritten");
    if (!unwritten)
        for (uint64_t i = 0; i < elements; ++i) array[i] = element_value(i);
    if (arguments.flag("self-test-corrupt")) {
        Lcg64 addresses(seed);
        array[below(addresses.next(), elements)] ^= 1;  // the first element that will be read
    }

    uint64_t checksum = 0;
    const uint64_t roi_ns = region_of_interest_ns(
        [&] { checksum = (unwritten ? read_unwritten_at_random : read_at_random)(array.data(), elements, count, seed); });

    const uint64_t expected = (unwritten ? expected_index_sum : expected_checksum)(elements, count, seed);
    std::string complaint;
    if (checksum != expected) complaint = "checksum " + std::to_string(checksum) + ", expected " + std::to_string(expected);
    Result result("gups");
    result.add("size_bytes", array.bytes())
        .add("reads", count)
        .add("seed", seed)
        .add("unwritten", unwritten)
        .add("footprint_bytes", array.bytes())
        .add("roi_ns", roi_ns)
        .add("checksum", checksum);
    return {result, complaint};
}

Outcome updates(AnonymousArray<uint64_t>& table, const Arguments& arguments) {
    const uint64_t elements = table.size();
    const uint64_t count = arguments.count("reads");
    const uint64_t seed = arguments.count("seed");
    if (!std::has_single_bit(elements))
        throw Error("gups: --size " + std::to_string(table.bytes()) + " with --mode update",
                    "the number of elements must be a power of two", "choose a size that is a power of two");
    for (uint64_t i = 0; i < elements; ++i) table[i] = i;

    const uint64_t position = stream_position(seed);
    const uint64_t roi_ns = region_of_interest_ns([&] { update_at_random(table.data(), elements, count, position); });

    if (arguments.flag("self-test-corrupt")) table[elements / 2] ^= 1;
    uint64_t checksum = 0;
    for (uint64_t i = 0; i < elements; ++i) checksum += element_value(table[i] + i);
    const uint64_t wrong = wrong_after_undoing(table.data(), elements, count, position);
    std::string complaint;
    if (wrong != 0) complaint = std::to_string(wrong) + " elements are wrong after undoing the updates";
    Result result("gups");
    result.add("mode", "update")
        .add("size_bytes", table.bytes())
        .add("updates", count)
        .add("seed", seed)
        .add("footprint_bytes", table.bytes())
        .add("roi_ns", roi_ns)
        .add("checksum", checksum);
    return {result, complaint};
}

Outcome run(const Arguments& arguments) {
    const bool update = arguments.text("mode") == "update", unwritten = arguments.flag("unwritten");
    if (update && unwritten) throw Error("gups: --unwritten", "--mode update writes to the array", "leave one of them out");
    AnonymousArray<uint64_t> array("gups array", arguments.count("size") / sizeof(uint64_t), unwritten ? Commit::written : Commit::whole);
    if (!unwritten) array.prefault();
    return update ? updates(array, arguments) : reads(array, arguments);
}

}  // namespace

int main(int argc, char** argv) {
    return run_program(
        "gups", "read or update random elements of one array",
        {{"mode", Kind::choice, "read", 0, 0, "type of access to the array", {"read", "update"}},
         {"size", Kind::size, "4GB", 4096, 1024.0 * 1073741824, "size of the array"},
         {"reads", Kind::count, "100000000", 1, 1e12, "number of reads (with --mode update: updates) in the region of interest"},
         {"unwritten", Kind::flag, "", 0, 0,
          "read memory that is reserved and was never written (zeros); the sequence of indices is verified"},
         seed_parameter(),
         corrupt_parameter()},
        argc, argv, run);
}
