// event_network.h - the kernel of event_network: discrete-event simulation of a packet network.
//
// The classic event-scheduling loop (Fishman, "Discrete-Event Simulation", 2001, section 2.3) with the data
// structures of OMNeT++ (Varga, ESM 2001), which SPEC's omnetpp is: modules that handle messages, a binary heap of
// pointers to messages as the future event set, and a heap object for each message and each packet in it.
//
// Encoding: a packet is wrapped in a fresh Message for each link and unwrapped at its end, as frames are. Events are
// ordered by time, then transmissions before arrivals before timers, then by a number (link, packet or
// host), so that equal times have one right order. Time is in ns.
// Not modelled: retransmission, changes of routes, link failures.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/measure.h"
#include "event_network_plan.h"

namespace tessera::workloads {

enum class EventKind : uint32_t { transmitted = 0, arrival = 1, timer = 2 };

struct Packet {
    uint64_t number;       ///< host << 32 | how many the host has sent before
    uint32_t source, destination;
    uint32_t bytes, hops;
    int64_t created_ns;
    int64_t queued_since_ns, queued_ns;
    Packet* next;          ///< in a queue
    uint64_t unused[8];    ///< OMNeT++'s packet has more (names, parameters, encapsulation): it sets distances
};
static_assert(sizeof(Packet) == 120);

class Module;
struct Port;

struct Message {
    int64_t time_ns;
    uint64_t number;
    EventKind kind;
    uint32_t bytes;
    Module* target;
    Port* sender;
    Packet* packet;         ///< null for timers and transmissions
    uint64_t link_sequence;
    int64_t sent_ns;
    uint64_t place;         ///< in the heap
    int64_t created_ns;
    uint64_t unused[5];     ///< as above
};
static_assert(sizeof(Message) == 120);

inline bool before(const Message& a, const Message& b) {
    if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
    if (a.kind != b.kind) return a.kind < b.kind;
    return a.number < b.number;
}

/// The future event set: a binary heap (heap_[1] is the next event).
class FutureEvents {
public:
    uint64_t size() const { return heap_.size() - 1; }
    const std::vector<Message*>& heap() const { return heap_; }
    void reserve(uint64_t events) { heap_.reserve(events + 1); }
    const Message& first() const { return *heap_[1]; }

    void push(Message* message) {
        heap_.push_back(message);
        uint64_t hole = heap_.size() - 1;
        for (; hole > 1 && before(*message, *heap_[hole / 2]); hole /= 2) put(hole, heap_[hole / 2]);
        put(hole, message);
    }

    Message* pop() {
        Message* const top = heap_[1];
        Message* const last = heap_.back();
        heap_.pop_back();
        const uint64_t count = size();
        if (count == 0) return top;
        uint64_t hole = 1;
        for (uint64_t child = 2; child <= count; child = 2 * hole) {
            if (child < count && before(*heap_[child + 1], *heap_[child])) ++child;
            if (!before(*heap_[child], *last)) break;
            put(hole, heap_[child]);
            hole = child;
        }
        put(hole, last);
        return top;
    }

private:
    void put(uint64_t place, Message* message) {
        heap_[place] = message;
        message->place = place;
    }
    std::vector<Message*> heap_ = {nullptr};
};

/// A link's beginning: the packet on it, and those that wait.
struct Port {
    Message done{};       ///< scheduled while a packet is being transmitted
    Packet* sending = nullptr;
    Packet *head = nullptr, *tail = nullptr;
    uint32_t waiting = 0;
    uint64_t sent = 0, arrived = 0;  ///< packets that left and reached the other end
    Module* peer = nullptr;
    int64_t delay_ns = 0, ns_per_byte = 0;
};

struct Totals {
    uint64_t sent = 0, received = 0, dropped = 0;
    uint64_t deliveries = 0;  ///< checksum over packets and the times at which they were received
    bool operator==(const Totals&) const = default;
};

inline uint64_t delivery(uint64_t packet, int64_t time_ns) { return mix64(packet, static_cast<uint64_t>(time_ns)); }

class Simulation {
public:
    explicit Simulation(const NetworkPlan& plan);
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /// Handles all events up to this time, that time included.
    void run_until(int64_t time_ns);
    /// Handles `events` events and returns their number (always `events`, because hosts never stop sending).
    void run_events(uint64_t events);

    const NetworkPlan& plan() const { return plan_; }
    int64_t now_ns() const { return now_ns_; }
    uint64_t events() const { return events_; }
    const Totals& totals() const { return totals_; }
    const FutureEvents& future() const { return future_; }
    FutureEvents& future() { return future_; }
    const std::vector<std::unique_ptr<Module>>& modules() const { return modules_; }
    uint64_t disorder() const { return disorder_; }
    uint64_t most_under_way() const { return most_under_way_; }
    uint64_t bytes() const;

    // What modules do.
    void schedule(Message* message, int64_t time_ns);
    void offer(Port& port, Packet* packet);
    void transmitted(Port& port);
    Packet* unwrap(Message* message);
    void send_new_packet(uint32_t host, uint64_t number, Port& port);
    void receive(Packet* packet);

private:
    void step();
    void transmit(Port& port, Packet* packet);

    const NetworkPlan& plan_;
    FutureEvents future_;
    std::vector<std::unique_ptr<Module>> modules_;  ///< by node
    int64_t now_ns_ = 0;
    uint64_t events_ = 0;
    uint64_t disorder_ = 0;  ///< events before their time, packets that overtook others on a link
    uint64_t under_way_ = 0, most_under_way_ = 0;
    Totals totals_;
};

/// Contract: handle() takes a message of its own timer or ports, or one that wraps a packet, which it unwraps.
class Module {
public:
    virtual ~Module() = default;
    virtual void handle(Simulation& simulation, Message* message) = 0;
    std::vector<Port> ports;
};

}  // namespace tessera::workloads

#include "event_network_modules.h"
