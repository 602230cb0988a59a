// netlist.h - a synthetic netlist and its first placement, for canneal; and the cost, recomputed.
//
// Every cell has the same number of inputs, each from a random other cell, as in the netlists of PARSEC's
// generator, which Mitosis (table 1) uses. Input j of cell i is a function of i, j and the seed, so that
// the verifier's cost needs neither the pointers nor the arrays that the kernel follows.
// Cell::neighbours holds the inputs first, then the cells that the cell drives.
#pragma once

#include <cstdint>
#include <utility>

#include "canneal.h"
#include "common/anonymous_array.h"

namespace tessera::workloads::canneal {

struct Inputs {
    uint64_t cells, per_cell, seed;

    /// The cell that drives input j of cell i; never i itself.
    uint64_t operator()(uint64_t i, uint64_t j) const {
        const uint64_t other = below(mix64(seed, i * per_cell + j), cells - 1);
        return other + (other >= i);
    }
};

struct Netlist {
    AnonymousArray<Cell> cells;
    AnonymousArray<Cell*> neighbours;
    AnonymousArray<Place> places;

    uint64_t bytes() const { return cells.bytes() + neighbours.bytes() + places.bytes(); }
};

/// Puts cell i on the grid's places in random order (Knuth, vol. 2, 3.4.2, algorithm P).
inline void place_at_random(Netlist& netlist, uint64_t seed) {
    for (uint64_t i = 0; i < netlist.cells.size(); ++i) netlist.cells[i].place = &netlist.places[i];
    for (uint64_t i = netlist.cells.size(); i > 1; --i)
        std::swap(netlist.cells[i - 1].place, netlist.cells[below(mix64(~seed, i), i)].place);
}

/// A grid of width x height places, row by row; at least as many as cells.
inline Netlist build_netlist(const Inputs& input, uint64_t width, uint64_t height) {
    Netlist netlist{AnonymousArray<Cell>("cells", input.cells), AnonymousArray<Cell*>("connections", 2 * input.cells * input.per_cell),
                    AnonymousArray<Place>("places", width * height)};
    auto& cells = netlist.cells;
    for (uint64_t i = 0; i < input.cells; ++i)
        for (uint64_t j = 0; j < input.per_cell; ++j) ++cells[input(i, j)].degree;  // outputs only, so far
    Cell** next = netlist.neighbours.data();
    for (uint64_t i = 0; i < input.cells; ++i) {
        cells[i].neighbours = next;
        next += input.per_cell + cells[i].degree;
        cells[i].degree = input.per_cell;
    }
    for (uint64_t i = 0; i < input.cells; ++i)
        for (uint64_t j = 0; j < input.per_cell; ++j) {
            Cell& driver = cells[input(i, j)];
            cells[i].neighbours[j] = &driver;
            driver.neighbours[driver.degree++] = &cells[i];
        }
    for (uint64_t y = 0; y < height; ++y)
        for (uint64_t x = 0; x < width; ++x) netlist.places[y * width + x] = {static_cast<int32_t>(x), static_cast<int32_t>(y)};
    place_at_random(netlist, input.seed);
    return netlist;
}

/// Routing cost of the netlist: grid positions from where a cell's pointer lies among the places.
inline int64_t routing_cost(const Inputs& input, const Netlist& netlist, uint64_t width) {
    const auto position = [&](uint64_t cell) { return static_cast<uint64_t>(netlist.cells[cell].place - netlist.places.data()); };
    const auto apart = [](uint64_t a, uint64_t b) { return a < b ? b - a : a - b; };
    uint64_t cost = 0;
    for (uint64_t i = 0; i < input.cells; ++i) {
        const uint64_t x = position(i) % width, y = position(i) / width;
        for (uint64_t j = 0; j < input.per_cell; ++j) {
            const uint64_t other = position(input(i, j));
            cost += apart(x, other % width) + apart(y, other / width);
        }
    }
    return static_cast<int64_t>(cost);
}

/// True if no two cells share a place.
inline bool places_are_distinct(const Netlist& netlist) {
    AnonymousArray<unsigned char> taken("taken places", netlist.places.size());
    for (uint64_t i = 0; i < netlist.cells.size(); ++i) {
        const Place* place = netlist.cells[i].place;
        if (place < netlist.places.data() || place >= netlist.places.data() + netlist.places.size()) return false;
        if (taken[place - netlist.places.data()]++ != 0) return false;
    }
    return true;
}

}  // namespace tessera::workloads::canneal
