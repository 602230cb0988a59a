// calls.h - calls of the program (events of the trace) as calls of the imitation.
#pragma once

#include "driver/accesses.h"

namespace tessera::os {

class Calls {
public:
    struct Counts {
        uint64_t calls = 0, ignored_calls = 0;
    };
    Calls(const Scenario &scenario, Machine &machine, const Places &places, Recorder &recorder, Accesses &accesses)
        : scenario_(scenario), machine_(machine), process_(&machine.process), places_(places), recorder_(recorder), accesses_(accesses) {}

    /// Throws Refusal for what is not modelled.
    void call(At at, const trace::Event &event);
    const Counts &counts() const { return counts_; }

private:
    void map(const trace::Event &event, const Place &place, uint64_t page, uint64_t pages);
    void map_huge(const trace::Event &event, uint64_t page, uint64_t pages, uint32_t flags);
    void unmap(const Place &place, uint64_t page, uint64_t pages);
    void remap(const trace::Event &event, const Place &place, uint64_t page, uint64_t pages);
    void protect(uint64_t page, uint64_t pages);
    void advise(uint64_t page, uint64_t pages);
    void break_up(uint64_t heap, uint64_t heap_end);
    void populate(uint64_t page, uint64_t pages, bool may_write = true);
    void forget(const Place &place, uint64_t page, uint64_t pages);
    void checked(const char *broken) const;
    template <class Work>
    void each_part(const Place &place, uint64_t page, uint64_t pages, Work &&work);

    const Scenario &scenario_;
    Machine &machine_;
    ::process *process_;
    const Places &places_;
    Recorder &recorder_;
    Accesses &accesses_;
    Counts counts_;
    At at_;                                 ///< of the call at hand
    const trace::Event *event_ = nullptr;
};

}  // namespace tessera::os
