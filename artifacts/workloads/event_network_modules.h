// event_network_modules.h - hosts and switches, and what happens to a packet, in the order of its life.
#pragma once

#include <algorithm>
#include <utility>

#include "event_network.h"

namespace tessera::workloads {

class Host : public Module {
public:
    explicit Host(uint32_t node) : node_(node) {}
    Message timer{};

    void handle(Simulation& simulation, Message* message) override {
        if (message->kind == EventKind::transmitted) return simulation.transmitted(ports[0]);
        if (message->kind == EventKind::arrival) return simulation.receive(simulation.unwrap(message));
        const int64_t wait = simulation.plan().packet(node_, sent_).wait_ns;
        simulation.send_new_packet(node_, sent_++, ports[0]);
        simulation.schedule(&timer, simulation.now_ns() + wait);
    }

private:
    uint32_t node_;
    uint64_t sent_ = 0;
};

class Switch : public Module {
public:
    explicit Switch(uint32_t node) : node_(node) {}

    void handle(Simulation& simulation, Message* message) override {
        if (message->kind == EventKind::transmitted) return simulation.transmitted(*message->sender);
        Packet* packet = simulation.unwrap(message);
        simulation.offer(ports[simulation.plan().next_port(node_, packet->destination)], packet);
    }

private:
    uint32_t node_;
};

inline Simulation::Simulation(const NetworkPlan& plan) : plan_(plan) {
    for (uint32_t node = 0; node < plan.nodes(); ++node) {
        if (plan.is_switch(node)) modules_.push_back(std::make_unique<Switch>(node));
        else modules_.push_back(std::make_unique<Host>(node));
        modules_.back()->ports.resize(plan.first_link[node + 1] - plan.first_link[node]);
    }
    for (uint32_t node = 0; node < plan.nodes(); ++node) {
        uint32_t link = plan.first_link[node];
        for (Port& port : modules_[node]->ports) {
            port.delay_ns = plan.links[link].delay_ns;
            port.ns_per_byte = plan.links[link].ns_per_byte;
            port.peer = modules_[plan.links[link].to].get();
            port.done.kind = EventKind::transmitted;
            port.done.number = link++;
            port.done.target = modules_[node].get();
            port.done.sender = &port;
        }
    }
    for (uint32_t node = plan.switches; node < plan.nodes(); ++node) {
        auto& host = static_cast<Host&>(*modules_[node]);
        host.timer.kind = EventKind::timer;
        host.timer.number = node;
        host.timer.target = &host;
        schedule(&host.timer, static_cast<int64_t>(plan.draw(7, node, 2 * static_cast<uint64_t>(plan.interval_ns))));
    }
}

inline Simulation::~Simulation() {
    for (uint64_t i = 1; i <= future_.size(); ++i) {
        Message* message = future_.heap()[i];
        if (message->kind != EventKind::arrival) continue;  // part of its module
        delete message->packet;
        delete message;
    }
    for (const auto& module : modules_)
        for (Port& port : module->ports) {
            delete port.sending;
            while (port.head != nullptr) delete std::exchange(port.head, port.head->next);
        }
}

inline void Simulation::schedule(Message* message, int64_t time_ns) {
    message->sent_ns = now_ns_;
    message->time_ns = time_ns;
    future_.push(message);
}

inline void Simulation::send_new_packet(uint32_t host, uint64_t number, Port& port) {
    const NetworkPlan::Draft draft = plan_.packet(host, number);
    ++totals_.sent;
    most_under_way_ = std::max(most_under_way_, ++under_way_);
    offer(port,
          new Packet{static_cast<uint64_t>(host) << 32 | number, host, draft.destination, draft.bytes, 0, now_ns_, 0, 0, nullptr, {}});
}

inline void Simulation::offer(Port& port, Packet* packet) {
    if (port.sending == nullptr) return transmit(port, packet);
    if (port.waiting == plan_.queue_packets) {
        ++totals_.dropped;
        --under_way_;
        delete packet;
        return;
    }
    packet->queued_since_ns = now_ns_;
    packet->next = nullptr;
    (port.head == nullptr ? port.head : port.tail->next) = packet;
    port.tail = packet;
    ++port.waiting;
}

inline void Simulation::transmit(Port& port, Packet* packet) {
    port.sending = packet;
    schedule(&port.done, now_ns_ + packet->bytes * port.ns_per_byte);
}

inline void Simulation::transmitted(Port& port) {
    Packet* packet = port.sending;
    auto* frame =
        new Message{0, packet->number, EventKind::arrival, packet->bytes, port.peer, &port, packet, port.sent++, now_ns_, 0, now_ns_, {}};
    schedule(frame, now_ns_ + port.delay_ns);
    port.sending = nullptr;
    if (port.head == nullptr) return;
    Packet* next = port.head;
    port.head = next->next;
    --port.waiting;
    next->queued_ns += now_ns_ - next->queued_since_ns;
    transmit(port, next);
}

inline Packet* Simulation::unwrap(Message* message) {
    if (message->link_sequence != message->sender->arrived++) ++disorder_;
    Packet* packet = message->packet;
    ++packet->hops;
    delete message;
    return packet;
}

inline void Simulation::receive(Packet* packet) {
    ++totals_.received;
    --under_way_;
    totals_.deliveries += delivery(packet->number, now_ns_);
    delete packet;
}

inline void Simulation::step() {
    Message* message = future_.pop();
    if (message->time_ns < now_ns_) ++disorder_;
    now_ns_ = message->time_ns;
    ++events_;
    message->target->handle(*this, message);
}

inline void Simulation::run_until(int64_t time_ns) {
    while (future_.size() != 0 && future_.first().time_ns <= time_ns) step();
}

TESSERA_KERNEL inline void Simulation::run_events(uint64_t events) {
    for (; events != 0 && future_.size() != 0; --events) step();
}

inline uint64_t Simulation::bytes() const {
    uint64_t bytes = future_.heap().size() * sizeof(Message*) + plan_.port_of.size() * sizeof(plan_.port_of[0]);
    bytes += plan_.links.size() * sizeof(Port) + plan_.switches * sizeof(Switch) + plan_.hosts() * sizeof(Host);
    return bytes + most_under_way_ * (sizeof(Packet) + sizeof(Message));
}

}  // namespace tessera::workloads
