#include "driver/timers.h"

#include <algorithm>

namespace tessera::os {

void run_kswapd(Machine &machine, Recorder &recorder, At at) {
    if (!machine.system.reclaim.kswapd_asked) return;
    recorder.stand(at);
    vm_background(&machine.system, 0);
}

Timers::Timers(const Scenario &scenario, Machine &machine, Recorder &recorder) : machine_(machine), recorder_(recorder) {
    constexpr uint64_t refresh_milliseconds = 1000, compaction_milliseconds = 500;  // vm.stat_interval, HPAGE_FRAG_CHECK_INTERVAL_MSEC
    scan_.start(scenario.instructions_in(scenario.scan_sleep_milliseconds));
    refresh_.start(scenario.instructions_in(refresh_milliseconds));
    compaction_.start(scenario.instructions_in(compaction_milliseconds));
    if (!scenario.compacts_proactively) compaction_ = {0, ~uint64_t{0}};
    next_ = std::min({scan_.next, refresh_.next, compaction_.next});
}

void Timers::run(At at, uint64_t instructions) {
    recorder_.stand(at);
    for (; next_ <= instructions; next_ = std::min({scan_.next, refresh_.next, compaction_.next})) {
        if (next_ == refresh_.next) {
            percpu_refresh(&machine_.memory, 0);
            lru_fold(&machine_.system.lru, 0);
            refresh_.next += refresh_.period;
        } else if (next_ == scan_.next) {
            khugepaged_wake(&machine_.system, 0);
            scan_.next += scan_.period;
        } else {
            compact_proactive(&machine_.system.compact, 0);
            compaction_.next += compaction_.period;
        }
        run_kswapd(machine_, recorder_, at);
    }
}

}  // namespace tessera::os
