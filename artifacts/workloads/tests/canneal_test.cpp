// canneal: costs by hand, exact accounting, the acceptance rule, and what temperature does.
#include "canneal.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "netlist.h"

using namespace tessera::workloads;
using namespace tessera::workloads::canneal;

namespace {

TEST(Canneal, CostOfMovingByHand) {
    const Place p[] = {{0, 0}, {3, 4}, {10, 0}};
    Cell cells[3] = {};
    Cell *of_0[] = {&cells[1]}, *of_1[] = {&cells[0], &cells[2]}, *of_2[] = {&cells[1]};
    cells[0] = {&p[0], of_0, 1};
    cells[1] = {&p[1], of_1, 2};
    cells[2] = {&p[2], of_2, 1};
    EXPECT_EQ(distance(p[0], p[1]), 7);
    EXPECT_EQ(cost_of_moving(cells[0], cells[2]), 11 - 7);  // to (10,0): 7 + 4 from (3,4)
    EXPECT_EQ(cost_of_moving(cells[0], cells[1]), 0);       // their connection keeps its length
    EXPECT_EQ(cost_of_moving(cells[1], cells[0]), 10 - 11); // only cell 2 counts
}

TEST(Netlist, EveryInputIsAnOutputOfAnotherCell) {
    const Inputs input{100, 5, 3};
    Netlist netlist = build_netlist(input, 16, 8);
    uint64_t connections = 0;
    for (uint64_t i = 0; i < 100; ++i) {
        const Cell& cell = netlist.cells[i];
        connections += cell.degree;
        for (uint64_t n = 0; n < cell.degree; ++n) {
            const Cell* other = cell.neighbours[n];
            EXPECT_NE(other, &cell);
            EXPECT_EQ(std::count(cell.neighbours, cell.neighbours + cell.degree, other),
                      std::count(other->neighbours, other->neighbours + other->degree, &cell));
        }
        for (uint64_t j = 0; j < 5; ++j) EXPECT_EQ(cell.neighbours[j], &netlist.cells[input(i, j)]);
    }
    EXPECT_EQ(connections, 2u * 100 * 5);
    EXPECT_TRUE(places_are_distinct(netlist));
    netlist.cells[7].place = netlist.cells[8].place;
    EXPECT_FALSE(places_are_distinct(netlist));
}

TEST(Netlist, CostIsTheSumOfDistancesOverPointers) {
    const Inputs input{60, 3, 1};
    const Netlist netlist = build_netlist(input, 8, 8);
    int64_t both_ways = 0;
    for (uint64_t i = 0; i < 60; ++i)
        for (uint64_t n = 0; n < netlist.cells[i].degree; ++n)
            both_ways += distance(*netlist.cells[i].place, *netlist.cells[i].neighbours[n]->place);
    EXPECT_EQ(2 * routing_cost(input, netlist, 8), both_ways);
}

TEST(Boltzmann, AcceptsWithItsProbability) {
    const Boltzmann boltzmann;
    for (const auto& [increase, temperature] : {std::pair<int64_t, uint64_t>{1, 1}, {100, 50}, {7, 100}}) {
        int accepted = 0;
        for (int i = 0; i < 4096; ++i) accepted += boltzmann.accepts(increase, temperature << 16, static_cast<uint64_t>(i) << 52);
        EXPECT_NEAR(accepted / 4096.0, std::exp(-double(increase) / double(temperature)), 1.0 / 4096);
    }
    EXPECT_FALSE(boltzmann.accepts(0, 0, 0));
    EXPECT_FALSE(boltzmann.accepts(1 << 30, uint64_t{1} << 16, 0));
}

struct Annealing {
    int64_t before, after, accounted;
    uint64_t accepted;
    bool distinct;
};

Annealing annealed(uint64_t cells, const Schedule& schedule, uint64_t seed) {
    const Inputs input{cells, 5, seed};
    Netlist netlist = build_netlist(input, 32, 32);
    const int64_t before = routing_cost(input, netlist, 32);
    const Annealed done = anneal(netlist.cells.data(), cells, schedule, Boltzmann(), seed);
    return {before, routing_cost(input, netlist, 32), done.cost_difference, done.accepted, places_are_distinct(netlist)};
}

TEST(Canneal, AccountsForEverySwapExactly) {
    for (const uint64_t cells : {2u, 3u, 10u, 1024u})  // few cells: the swapped ones are often connected
        for (const uint64_t start : {0u, 20u, 100000u}) {
            const Annealing run = annealed(cells, {10, 1000, start}, cells + start);
            EXPECT_EQ(run.after - run.before, run.accounted) << cells << " cells, " << start;
            EXPECT_TRUE(run.distinct);
        }
}

TEST(Canneal, ColdOnlyDescendsAndHotTakesAlmostEverything) {
    const Annealing cold = annealed(1000, {1, 20000, 0}, 1);
    EXPECT_LT(cold.after, cold.before * 3 / 4);
    const Annealing hot = annealed(1000, {1, 20000, 100000}, 1);
    EXPECT_GT(hot.accepted, 19900u);
    EXPECT_NEAR(double(hot.after), double(hot.before), 0.05 * double(hot.before));
}

TEST(Canneal, CoolingBeatsStayingHot) {
    const Annealing cooled = annealed(1000, {30, 2000, 50}, 1);
    const Annealing hot = annealed(1000, {1, 60000, 50}, 1);
    EXPECT_LT(cooled.after, hot.after);
}

}  // namespace
