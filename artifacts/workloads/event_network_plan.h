// event_network_plan.h - the network that event_network simulates: who is linked to whom, how traffic is drawn.
//
// Switches form a ring with random chords (connected, small diameter); each has the same number of hosts,
// reached over long access links, so that many packets are under way. Everything random is a function of the seed
// and a counter: the simulation and its oracle draw the same traffic without sharing any state.
#pragma once

#include <cstdint>
#include <vector>

#include "common/rng.h"

namespace tessera::workloads {

/// A directed link, with the queue at its beginning. Times in ns.
struct LinkPlan {
    uint32_t from, to;      ///< nodes: switches first, then hosts
    int64_t delay_ns;       ///< propagation
    int64_t ns_per_byte;
};

struct NetworkPlan {
    uint32_t switches;
    uint32_t hosts_per_switch;
    uint32_t chords;             ///< random bidirectional links per switch, beside the ring
    int64_t interval_ns;         ///< mean time between the packets of a host
    int64_t access_delay_ns;     ///< the longest of the access links; uniform below
    uint32_t queue_packets;      ///< room of each queue, without the packet that is being transmitted
    uint64_t seed;
    std::vector<LinkPlan> links = {};
    std::vector<uint16_t> port_of = {};   ///< routing table: [switch][destination switch] -> index among its links
    std::vector<uint32_t> first_link = {};  ///< links of node n: first_link[n] .. first_link[n + 1]

    uint32_t hosts() const { return switches * hosts_per_switch; }
    uint32_t nodes() const { return switches + hosts(); }
    bool is_switch(uint32_t node) const { return node < switches; }
    uint32_t switch_of(uint32_t node) const { return is_switch(node) ? node : (node - switches) / hosts_per_switch; }
    uint64_t draw(uint64_t what, uint64_t counter, uint64_t n) const { return below(mix64(seed ^ (what << 56), counter), n); }

    struct Draft {
        uint32_t destination;  ///< a host
        uint32_t bytes;
        int64_t wait_ns;       ///< until the host's next packet
    };

    /// The `number`-th packet of a host.
    Draft packet(uint32_t host, uint64_t number) const {
        const uint64_t counter = static_cast<uint64_t>(host) << 32 | number;
        const auto other = static_cast<uint32_t>(draw(1, counter, hosts() - 1));
        const uint32_t index = host - switches;
        return {switches + (other < index ? other : other + 1), 64 + static_cast<uint32_t>(draw(2, counter, 1437)),
                1 + static_cast<int64_t>(draw(3, counter, 2 * static_cast<uint64_t>(interval_ns)))};
    }

    /// The index among the links of `node` over which a packet for `destination` (a host) goes on.
    uint32_t next_port(uint32_t node, uint32_t destination) const {
        if (!is_switch(node)) return 0;
        const uint32_t home = switch_of(destination);
        if (home == node) return core_ports(node) + (destination - switches) % hosts_per_switch;
        return port_of[static_cast<uint64_t>(node) * switches + home];
    }

    /// Links of a switch that lead to switches come first.
    uint32_t core_ports(uint32_t node) const { return first_link[node + 1] - first_link[node] - hosts_per_switch; }

    void build();

private:
    void route(const std::vector<std::vector<uint32_t>>& neighbours);
};

inline void NetworkPlan::build() {
    std::vector<std::vector<uint32_t>> neighbours(switches);
    const auto join = [&](uint32_t a, uint32_t b) {
        if (a == b) return;
        for (const uint32_t known : neighbours[a])
            if (known == b) return;
        neighbours[a].push_back(b);
        neighbours[b].push_back(a);
    };
    for (uint32_t s = 0; s < switches; ++s) join(s, (s + 1) % switches);
    for (uint64_t k = 0; k < static_cast<uint64_t>(switches) * chords; ++k)
        join(static_cast<uint32_t>(k % switches), static_cast<uint32_t>(draw(4, k, switches)));
    const auto add = [&](uint32_t from, uint32_t to, int64_t delay, int64_t ns_per_byte) {
        links.push_back({from, to, delay, ns_per_byte});
    };
    const auto access = [&](uint32_t host) { return 1000 + static_cast<int64_t>(draw(5, host, static_cast<uint64_t>(access_delay_ns))); };
    // The core is provisioned for its mean load with a quarter to spare: some links are hot, and drop packets.
    const int64_t mean_bytes = 64 + 718;
    for (uint32_t s = 0; s < switches; ++s) {
        first_link.push_back(static_cast<uint32_t>(links.size()));
        const auto degree = static_cast<int64_t>(neighbours[s].size());
        const int64_t hops = 4;
        const int64_t ns_per_byte = interval_ns * degree * 3 / (4 * hosts_per_switch * hops * mean_bytes);
        for (const uint32_t to : neighbours[s])
            add(s, to, 10000 + static_cast<int64_t>(draw(6, links.size(), 1000000)), ns_per_byte > 0 ? ns_per_byte : 1);
        for (uint32_t h = 0; h < hosts_per_switch; ++h) {
            const uint32_t host = switches + s * hosts_per_switch + h;
            add(s, host, access(host), 80);
        }
    }
    for (uint32_t host = switches; host < nodes(); ++host) {
        first_link.push_back(static_cast<uint32_t>(links.size()));
        add(host, switch_of(host), access(host), 80);
    }
    first_link.push_back(static_cast<uint32_t>(links.size()));
    route(neighbours);
}

/// Shortest paths: one breadth-first search from each destination; the first neighbour found is taken.
inline void NetworkPlan::route(const std::vector<std::vector<uint32_t>>& neighbours) {
    port_of.assign(static_cast<uint64_t>(switches) * switches, 0);
    std::vector<uint32_t> queue(switches), distance(switches);
    for (uint32_t destination = 0; destination < switches; ++destination) {
        distance.assign(switches, UINT32_MAX);
        distance[destination] = 0;
        uint32_t head = 0, tail = 0;
        queue[tail++] = destination;
        while (head < tail) {
            const uint32_t here = queue[head++];
            for (const uint32_t next : neighbours[here]) {
                if (distance[next] != UINT32_MAX) continue;
                distance[next] = distance[here] + 1;
                uint16_t port = 0;
                while (neighbours[next][port] != here) ++port;
                port_of[static_cast<uint64_t>(next) * switches + destination] = port;
                queue[tail++] = next;
            }
        }
    }
}

}  // namespace tessera::workloads
