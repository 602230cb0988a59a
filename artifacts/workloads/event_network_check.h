// event_network_check.h - checks that a simulation's state is consistent and that its results match another method.
//
// The oracle has no queues, heap of messages or transmission events: a link that serves in order of arrival is busy
// until max(arrival, busy before) + transmission time (Lindley's recursion), so each packet needs one step per link.
#pragma once

#include <deque>
#include <queue>
#include <string>
#include <tuple>

#include "event_network.h"

namespace tessera::workloads {

/// What has happened up to this time, that time included, by Lindley's recursion.
inline Totals oracle_totals(const NetworkPlan& plan, int64_t until_ns) {
    struct Step {
        int64_t time_ns;
        uint32_t generation;  ///< 1: `node` makes the packet, after all arrivals of that time
        uint64_t packet;      ///< host << 32 | number
        uint32_t node;
        bool operator>(const Step& other) const {
            return std::tie(time_ns, generation, packet) > std::tie(other.time_ns, other.generation, other.packet);
        }
    };
    std::priority_queue<Step, std::vector<Step>, std::greater<>> steps;
    std::vector<std::deque<int64_t>> ends(plan.links.size());  ///< of transmissions that are not over
    Totals totals;
    for (uint32_t host = plan.switches; host < plan.nodes(); ++host) {
        const uint64_t first = plan.draw(7, host, 2 * static_cast<uint64_t>(plan.interval_ns));
        steps.push({static_cast<int64_t>(first), 1, static_cast<uint64_t>(host) << 32, host});
    }
    while (!steps.empty() && steps.top().time_ns <= until_ns) {
        const Step step = steps.top();
        steps.pop();
        const auto packet = plan.packet(static_cast<uint32_t>(step.packet >> 32), step.packet & UINT32_MAX);
        if (step.generation) {
            ++totals.sent;
            steps.push({step.time_ns + packet.wait_ns, 1, step.packet + 1, step.node});
        }
        if (step.node == packet.destination) {
            ++totals.received;
            totals.deliveries += delivery(step.packet, step.time_ns);
            continue;
        }
        const uint32_t link = plan.first_link[step.node] + plan.next_port(step.node, packet.destination);
        std::deque<int64_t>& busy = ends[link];
        while (!busy.empty() && busy.front() <= step.time_ns) busy.pop_front();
        if (busy.size() == plan.queue_packets + size_t{1}) {
            ++totals.dropped;
            continue;
        }
        const LinkPlan& on = plan.links[link];
        busy.push_back((busy.empty() ? step.time_ns : busy.back()) + packet.bytes * on.ns_per_byte);
        steps.push({busy.back() + on.delay_ns, 0, step.packet, on.to});
    }
    return totals;
}

/// Conservation: what was sent is received, dropped, on a link or in a queue. Order: in the heap, on links, in time.
inline std::string consistency_complaint(const Simulation& simulation) {
    const auto& heap = simulation.future().heap();
    uint64_t under_way = 0;
    for (uint64_t i = 1; i < heap.size(); ++i) {
        if (i > 1 && before(*heap[i], *heap[i / 2])) return "the future event set is not a heap";
        if (heap[i]->place != i) return "an event has a wrong place in the heap";
        if (heap[i]->time_ns < simulation.now_ns()) return "an event in the heap is in the past";
        under_way += heap[i]->kind == EventKind::arrival;
    }
    for (const auto& module : simulation.modules())
        for (const Port& port : module->ports) {
            under_way += port.sending != nullptr;
            uint32_t waiting = 0;
            for (const Packet* packet = port.head; packet != nullptr; packet = packet->next) ++waiting;
            if (waiting != port.waiting) return "a queue's length differs from its port's count";
            if (waiting != 0 && port.sending == nullptr) return "packets wait for a link that is idle";
            under_way += waiting;
        }
    const Totals& totals = simulation.totals();
    if (totals.sent != totals.received + totals.dropped + under_way)
        return std::to_string(totals.sent) + " packets were sent, but " + std::to_string(totals.received) + " received, " +
               std::to_string(totals.dropped) + " dropped, " + std::to_string(under_way) + " under way";
    if (simulation.disorder() != 0) return std::to_string(simulation.disorder()) + " events came out of order";
    return "";
}

}  // namespace tessera::workloads
