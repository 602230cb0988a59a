// chase - pointer chases over growing footprints. Kernel: pointer_chase.h.
//
// One process measures a list of footprints `--rounds` times, each round in a new random order. It prints one CSV row per
// measurement (`elements,chains,round,accesses,ns`) before its JSON line. So drift affects all footprints alike, and a
// step between neighbouring footprints is a property of the processor. Each round also measures the clock (row `0,0,...`
// with cycles in place of accesses).
#include <time.h>

#include <algorithm>
#include <cstdio>

#include "common/anonymous_array.h"
#include "common/frames.h"
#include "common/program.h"
#include "pointer_chase.h"

using namespace tessera::workloads;

namespace {

constexpr uint64_t kPageBytes = 4096, kClockCycles = 1 << 21;
constexpr uint64_t kExpensive = 1 << 20;  // tours of more elements are made as seldom as possible

/// CPU time of this thread, so that other programs on this machine do not add to the latency.
uint64_t cpu_ns() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

/// Touches the pages of the array: in random order, so that neighbours seldom have contiguous frames; in ascending
/// order; or (`contiguous`) as transparent huge pages, which are then split into 4KB pages in contiguous frames.
void touch(AnonymousArray<char>& array, const std::string& how, uint64_t seed) {
    constexpr uint64_t kHugeBytes = 2 << 20;
    char* const base = array.data();
    if (how == "contiguous") madvise(base, array.bytes(), MADV_HUGEPAGE);  // if the kernel rejects this, the reported frames show it
    for (const uint32_t page : tour_of(array.bytes() / kPageBytes, how == "random" ? Order::random : Order::ascending, seed))
        static_cast<volatile char*>(base)[page * kPageBytes] = 0;
    if (how != "contiguous") return;
    const uint64_t skip = -reinterpret_cast<uint64_t>(base) % kHugeBytes;
    for (uint64_t at = skip; at + kPageBytes <= array.bytes(); at += kHugeBytes) {
        // A change of one page's protection makes the kernel map the huge page by 512 entries.
        if (mprotect(base + at, kPageBytes, PROT_READ) != 0 || mprotect(base + at, kPageBytes, PROT_READ | PROT_WRITE) != 0)
            throw Error("chase: --frames contiguous", "mprotect failed", "choose another value of --frames", kExitFailed);
    }
}

struct Case {
    uint64_t elements, chains;
};

struct Measured {
    uint64_t accesses, ns;
};

/// Measures one case after another; a tour is made again only where the number of elements changes.
class Chaser {
public:
    Chaser(char* base, uint64_t stride, Order order, uint64_t seed, bool damage)
        : base_(base), stride_(stride), order_(order), seed_(seed), damage_(damage) {}

    Measured measure(const Case& c, uint64_t accesses) {
        if (tour_.size() != c.elements) tour_ = tour_of(c.elements, order_, seed_);
        link(base_, tour_, stride_, c.chains);
        if (damage_) *reinterpret_cast<void**>(place(0)) = place(0);  // the first chain stays where it starts
        std::vector<void*> at;
        for (uint64_t i = 0; i < c.chains; ++i) at.push_back(place(i));
        const uint64_t steps = (accesses + c.chains - 1) / c.chains, warmup = std::min(2 * c.elements / c.chains + 1, steps);
        follow_all(at, warmup);
        const uint64_t begin = cpu_ns();
        region_of_interest_ns([&] {
            if (c.chains == 1) at[0] = follow(at[0], steps);
            else follow_all(at, steps);
        });
        const uint64_t ns = cpu_ns() - begin;
        for (uint64_t i = 0; i < c.chains; ++i) right_ &= at[i] == place(position_after(c.elements, c.chains, i, warmup + steps));
        return {steps * c.chains, ns};
    }

    bool right() const { return right_; }

private:
    char* place(uint64_t position) const { return base_ + element_offset(tour_[position], stride_); }

    char* base_;
    uint64_t stride_;
    Order order_;
    uint64_t seed_;
    bool damage_;
    std::vector<uint32_t> tour_;
    bool right_ = true;
};

uint64_t clock_ns(uint64_t operand) {
    const uint64_t begin = cpu_ns();
    volatile uint64_t sink = one_cycle_chain(kClockCycles, operand);
    (void)sink;
    return cpu_ns() - begin;
}

Outcome run(const Arguments& arguments) {
    const uint64_t stride = arguments.count("stride"), rounds = arguments.count("rounds"), seed = arguments.count("seed");
    const auto footprints = arguments.counts("elements");
    const auto chain_counts = arguments.counts("chains");
    const Order order = arguments.text("order") == "random" ? Order::random : Order::ascending;
    if (stride < 64 || stride % 64 != 0)
        throw Error("chase: --stride", std::to_string(stride) + " is not a multiple of 64", "give a multiple of the line size, 64 bytes");
    const uint64_t most = *std::max_element(footprints.begin(), footprints.end());
    if (*std::max_element(chain_counts.begin(), chain_counts.end()) > *std::min_element(footprints.begin(), footprints.end()))
        throw Error("chase: --chains", "more chains than elements", "give larger footprints or fewer chains");
    AnonymousArray<char> array("chase array", most * stride);
    touch(array, arguments.text("frames"), seed + 1);

    std::vector<Case> cases;
    for (const uint64_t elements : footprints)
        for (const uint64_t chains : chain_counts) cases.push_back({elements, chains});
    std::printf("elements,chains,round,accesses,ns\n");
    uint64_t roi_ns = 0;
    Chaser chaser(array.data(), stride, order, seed, arguments.flag("self-test-corrupt"));
    for (uint64_t round = 0; round < rounds; ++round) {
        for (size_t i = cases.size(); i-- > 1;) std::swap(cases[i], cases[below(mix64(seed + round, i), i + 1)]);
        std::ranges::stable_sort(cases, {}, [&](const Case& c) { return c.elements >= kExpensive ? c.elements : 0; });
        for (const Case& c : cases) {
            const Measured m = chaser.measure(c, arguments.count("accesses"));
            std::printf("%llu,%llu,%llu,%llu,%llu\n", (unsigned long long)c.elements, (unsigned long long)c.chains,
                        (unsigned long long)round, (unsigned long long)m.accesses, (unsigned long long)m.ns);
            roi_ns += m.ns;
        }
        std::printf("0,0,%llu,%llu,%llu\n", (unsigned long long)round, (unsigned long long)kClockCycles,
                    (unsigned long long)clock_ns(seed + round + 1));
    }
    const Frames frames = frames_of(array.data(), array.bytes() / kPageBytes);
    Result result("chase");
    result.add("stride_bytes", stride)
        .add("rounds", rounds)
        .add("seed", seed)
        .add("footprint_bytes", array.bytes())
        .add("frames_known", frames.known)
        .add("contiguous_frames", frames.contiguous)
        .add("aligned_runs_of_8_frames", frames.aligned_runs_of_8)
        .add("roi_ns", roi_ns);
    return {result, chaser.right() ? "" : "a chain ended at a wrong element"};
}

}  // namespace

int main(int argc, char** argv) {
    return run_program("chase", "time dependent loads over a list of footprints",
                       {{"elements", Kind::counts, "1024", 2, 1073741824.0, "footprints to measure, in elements, separated by commas"},
                        {"chains", Kind::counts, "1", 1, 64, "numbers of parallel independent chains to measure, separated by commas"},
                        {"stride", Kind::size, "4KB", 64, 1073741824.0, "distance between elements, in bytes"},
                        {"accesses", Kind::count, "200000", 1, 1e12, "number of loads in one measurement"},
                        {"rounds", Kind::count, "5", 1, 1e6, "number of measurements of each footprint"},
                        {"order", Kind::choice, "random", 0, 0, "order of the elements in the chain", {"random", "ascending"}},
                        {"frames",
                         Kind::choice,
                         "random",
                         0,
                         0,
                         "order of first touch of the pages, which decides their frames",
                         {"random", "ascending", "contiguous"}},
                        seed_parameter(),
                        corrupt_parameter()},
                       argc, argv, run);
}
