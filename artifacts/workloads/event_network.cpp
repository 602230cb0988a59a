// event_network - discrete-event simulation of a packet network: an open stand-in for SPEC's two omnetpp.
//
// Kernel and citations: event_network.h; network and traffic: event_network_plan.h; verifier: event_network_check.h.
// The links fill for `--warm-us` of simulated time, then the region of interest handles `--events` events.
// Afterwards the conservation laws are checked over the whole state, and everything up to `--verify-us` is
// recomputed by an independent method. (Only a prefix, because the recomputation takes as long as the simulation.)
#include <algorithm>
#include <optional>

#include "common/program.h"
#include "event_network.h"
#include "event_network_check.h"

using namespace tessera::workloads;

namespace {

constexpr int64_t kMicrosecond = 1000;

NetworkPlan plan_of(const Arguments& arguments) {
    const auto number = [&](const char* name) { return static_cast<uint32_t>(arguments.count(name)); };
    const auto time = [&](const char* name) { return static_cast<int64_t>(arguments.count(name)) * kMicrosecond; };
    NetworkPlan plan{number("switches"), number("hosts"), number("chords"),       time("interval-us"),
                     time("access-us"),  number("queue"), arguments.count("seed")};
    if (plan.hosts() < 2)
        throw Error("event_network: --switches and --hosts", "the network has only one host, so there is no receiver",
                    "choose two hosts or more");
    plan.build();
    return plan;
}

Outcome run(const Arguments& arguments) {
    const NetworkPlan plan = plan_of(arguments);
    const auto verify_ns = static_cast<int64_t>(arguments.count("verify-us")) * kMicrosecond;
    const auto warm_ns = static_cast<int64_t>(arguments.count("warm-us")) * kMicrosecond;
    const uint64_t events = arguments.count("events");
    if (verify_ns > warm_ns)
        throw Error("event_network: --verify-us " + std::to_string(verify_ns / kMicrosecond),
                    "it must not exceed --warm-us " + std::to_string(warm_ns / kMicrosecond),
                    "choose a smaller --verify-us; the verified part must end before the region of interest");

    std::optional<Simulation> simulation(std::in_place, plan);
    // Room for what the links hold: packets per host that are on their way at a time, timers, transmissions.
    const auto per_host = static_cast<uint64_t>(2 * plan.access_delay_ns / plan.interval_ns + 4);
    simulation->future().reserve(plan.hosts() * per_host);
    simulation->run_until(verify_ns);
    Totals verified_part = simulation->totals();
    simulation->run_until(warm_ns);

    const uint64_t roi_ns = region_of_interest_ns([&] { simulation->run_events(events); });

    std::string complaint = consistency_complaint(*simulation);
    const Totals totals = simulation->totals();
    const uint64_t footprint = simulation->bytes(), under_way = simulation->most_under_way();
    const int64_t end_ns = simulation->now_ns();
    simulation.reset();  // before the oracle takes memory
    if (arguments.flag("self-test-corrupt")) ++verified_part.deliveries;
    if (complaint.empty() && verified_part != oracle_totals(plan, verify_ns))
        complaint = "the first " + std::to_string(verify_ns / kMicrosecond) + " us differ from the recomputation";

    Result result("event_network");
    result.add("switches", uint64_t{plan.switches})
        .add("hosts", uint64_t{plan.hosts()})
        .add("seed", plan.seed)
        .add("footprint_bytes", footprint)
        .add("roi_ns", roi_ns)
        .add("events", events)
        .add("simulated_us", static_cast<uint64_t>(end_ns / kMicrosecond))
        .add("sent", totals.sent)
        .add("received", totals.received)
        .add("dropped", totals.dropped)
        .add("most_under_way", under_way)
        .add("recomputed_deliveries", verified_part.received)
        .add("checksum", totals.deliveries);
    return {result, complaint};
}

}  // namespace

int main(int argc, char** argv) {
    constexpr double kHour = 3.6e9;  // in us
    return run_program("event_network", "simulate a packet network by discrete events",
                       {{"switches", Kind::count, "256", 1, 60000, "number of switches, which form a ring with chords"},
                        {"hosts", Kind::count, "256", 1, 65536, "number of hosts of each switch"},
                        {"chords", Kind::count, "3", 0, 64, "number of random links per switch"},
                        {"interval-us", Kind::count, "20000", 1, kHour, "mean time between the packets of a host, in us"},
                        {"access-us", Kind::count, "250000", 1, kHour, "longest delay of an access link, in us"},
                        {"queue", Kind::count, "64", 0, 1e6, "number of packets that a queue holds"},
                        {"verify-us", Kind::count, "30000", 0, kHour, "simulated time that the verifier recomputes, in us"},
                        {"warm-us", Kind::count, "150000", 0, kHour, "simulated time before the region of interest, in us"},
                        {"events", Kind::count, "2000000", 1, 1e12, "number of events in the region of interest"},
                        seed_parameter(),
                        corrupt_parameter()},
                       argc, argv, run);
}
