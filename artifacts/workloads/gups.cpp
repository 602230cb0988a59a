// gups - random reads from one array. Kernel, oracle and citation: random_read.h.
#include "common/anonymous_array.h"
#include "common/program.h"
#include "random_read.h"

using namespace tessera::workloads;

namespace {

Outcome run(const Arguments& arguments) {
    const uint64_t elements = arguments.count("size") / sizeof(uint64_t);
    const uint64_t reads = arguments.count("reads");
    const uint64_t seed = arguments.count("seed");

    AnonymousArray<uint64_t> array("gups array", elements);
    array.prefault();
    for (uint64_t i = 0; i < elements; ++i) array[i] = element_value(i);
    if (arguments.flag("self-test-corrupt")) {
        Lcg64 addresses(seed);
        array[below(addresses.next(), elements)] ^= 1;  // the first element that will be read
    }

    uint64_t checksum = 0;
    const uint64_t roi_ns = region_of_interest_ns(
        [&] { checksum = read_at_random(array.data(), elements, reads, seed); });

    const uint64_t expected = expected_checksum(elements, reads, seed);
    std::string complaint;
    if (checksum != expected)
        complaint = "checksum " + std::to_string(checksum) + ", expected " + std::to_string(expected);

    Result result("gups");
    result.add("size_bytes", array.bytes()).add("reads", reads).add("seed", seed)
        .add("footprint_bytes", array.bytes()).add("roi_ns", roi_ns).add("checksum", checksum);
    return {result, complaint};
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("gups", "independent random reads from one array",
                       {{"size", Kind::size, "4GB", 4096, 1024.0 * 1073741824, "bytes of the array"},
                        {"reads", Kind::count, "100000000", 1, 1e12, "number of reads in the region of interest"},
                        seed_parameter(), corrupt_parameter()},
                       argc, argv, run);
}
