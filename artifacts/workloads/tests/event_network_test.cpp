// Network simulation: closed forms on tiny networks, the independent recomputation, and a breach of every check.
#include "event_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "event_network_check.h"

using namespace tessera::workloads;

namespace {

constexpr int64_t kMs = 1000000;

NetworkPlan built(uint32_t switches, uint32_t hosts, int64_t interval_ns, int64_t access_ns, uint32_t queue, uint64_t seed) {
    NetworkPlan plan{switches, hosts, 2, interval_ns, access_ns, queue, seed};
    plan.build();
    return plan;
}

TEST(EventNetworkPlan, EveryRouteReachesItsHost) {
    const NetworkPlan plan = built(37, 3, kMs, kMs, 8, 3);
    for (uint32_t from = plan.switches; from < plan.nodes(); ++from)
        for (uint32_t to = plan.switches; to < plan.nodes(); ++to) {
            uint32_t node = from, hops = 0;
            if (from == to) continue;
            for (; node != to; ++hops) {
                ASSERT_LT(hops, 40u);
                const LinkPlan& link = plan.links[plan.first_link[node] + plan.next_port(node, to)];
                ASSERT_EQ(link.from, node);
                node = link.to;
            }
        }
}

TEST(EventNetworkPlan, RoutesInARingTakeTheShorterSide) {
    NetworkPlan plan{10, 1, 0, kMs, kMs, 8, 1};  // no chords
    plan.build();
    for (uint32_t a = 0; a < 10; ++a)
        for (uint32_t b = 0; b < 10; ++b) {
            uint32_t hops = 0;
            for (uint32_t node = a; node != b; ++hops)
                node = plan.links[plan.first_link[node] + plan.next_port(node, plan.switches + b)].to;
            EXPECT_EQ(hops, std::min((a + 10 - b) % 10, (b + 10 - a) % 10));
        }
}

// Two hosts on a switch: a packet takes two transmissions and two delays, if none is in front of it.
TEST(EventNetwork, AnEmptyNetworkDeliversAfterItsDelays) {
    const NetworkPlan plan = built(1, 2, 1000 * kMs, kMs, 8, 1);
    Simulation simulation(plan);
    simulation.run_until(1500 * kMs);
    uint64_t expected = 0, sent = 0;
    for (uint32_t host = 1; host <= 2; ++host) {
        auto time = static_cast<int64_t>(plan.draw(7, host, 2000 * kMs));
        for (uint64_t number = 0; time <= 1500 * kMs; ++number, ++sent) {
            const auto packet = plan.packet(host, number);
            const LinkPlan& up = plan.links[plan.first_link[host]];
            const LinkPlan& down = plan.links[packet.destination - 1];  // the switch's links are the first two
            const int64_t transmissions = packet.bytes * (up.ns_per_byte + down.ns_per_byte);
            const int64_t there = time + transmissions + up.delay_ns + down.delay_ns;
            if (there <= 1500 * kMs) expected += delivery(static_cast<uint64_t>(host) << 32 | number, there);
            time += packet.wait_ns;
        }
    }
    EXPECT_GE(sent, 1u);
    EXPECT_EQ(simulation.totals().sent, sent);
    EXPECT_EQ(simulation.totals().deliveries, expected);
    EXPECT_EQ(simulation.totals().dropped, 0u);
}

TEST(EventNetwork, TheFutureEventSetSortsByTimeKindAndNumber) {
    std::vector<Message> messages(500);
    FutureEvents future;
    for (uint64_t i = 0; i < messages.size(); ++i) {
        messages[i].time_ns = static_cast<int64_t>(below(mix64(1, i), 40));
        messages[i].kind = static_cast<EventKind>(below(mix64(2, i), 3));
        messages[i].number = mix64(3, i);
        future.push(&messages[i]);
    }
    std::vector<const Message*> sorted;
    for (const Message& message : messages) sorted.push_back(&message);
    std::sort(sorted.begin(), sorted.end(), [](const Message* a, const Message* b) {
        return std::tuple(a->time_ns, a->kind, a->number) < std::tuple(b->time_ns, b->kind, b->number);
    });
    for (const Message* expected : sorted) ASSERT_EQ(future.pop(), expected);
    EXPECT_EQ(future.size(), 0u);
}

TEST(EventNetwork, AgreesWithTheRecomputation) {
    uint64_t dropped = 0, received = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        // From idle to overloaded, from no queue at all to a long one; 60 ns apart, events often coincide.
        const int64_t interval = seed % 4 == 0 ? 60 : static_cast<int64_t>(seed) * 20000;
        const NetworkPlan plan = built(1 + seed % 9, 2 + seed % 5, interval, seed % 3 == 0 ? 5 : kMs, seed % 6, seed);
        Simulation simulation(plan);
        for (const int64_t until : {interval, 10 * interval, 60 * interval}) {
            simulation.run_until(until);
            ASSERT_EQ(simulation.totals(), oracle_totals(plan, until)) << "seed " << seed << " until " << until;
            ASSERT_EQ(consistency_complaint(simulation), "") << "seed " << seed;
        }
        dropped += simulation.totals().dropped;
        received += simulation.totals().received;
    }
    EXPECT_GT(dropped, 1000u);
    EXPECT_GT(received, 1000u);
}

TEST(EventNetworkCheck, FindsEachBreach) {
    const NetworkPlan plan = built(5, 4, 10000, kMs, 6, 2);
    const auto said = [&](void (*damage)(Simulation&)) {
        Simulation simulation(plan);
        simulation.run_events(5000);
        EXPECT_EQ(consistency_complaint(simulation), "");
        damage(simulation);
        return consistency_complaint(simulation);
    };
    const auto names = [&](void (*damage)(Simulation&), const char* breach) {
        const std::string found = said(damage);
        EXPECT_NE(found.find(breach), std::string::npos) << found;
    };
    names([](Simulation& s) { s.future().heap()[2]->time_ns = 0; }, "not a heap");
    names([](Simulation& s) { s.future().heap()[2]->place = 3; }, "wrong place");
    names([](Simulation& s) { s.future().heap()[1]->time_ns = 0; }, "in the past");
    names([](Simulation& s) { ++s.modules()[0]->ports[0].waiting; }, "queue's length");
    const auto lost = [](Simulation& s) {
        for (const auto& module : s.modules())
            for (Port& port : module->ports)
                if (port.sending != nullptr && port.waiting == 0) return delete std::exchange(port.sending, nullptr);
    };
    EXPECT_NE(said(lost).find(" under way"), std::string::npos);
    EXPECT_NE(said([](Simulation& s) {
                  for (const auto& module : s.modules())
                      for (Port& port : module->ports) port.arrived += 7;  // as if seven packets had been overtaken
                  s.run_events(2000);
              }).find("out of order"),
              std::string::npos);
}

}  // namespace
