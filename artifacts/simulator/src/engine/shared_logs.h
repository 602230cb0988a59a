// shared_logs.h - what cells of one stream share: events of chunks and mispredicted branches, computed by the first that reads a frame.
//
// Events depend on the keys tlb.l1i.* and prefetch.* only, branches on branch.* only (the contracts of their components).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/any_design/event_log.h"
#include "engine/timing/redirect_log.h"

namespace tessera::sim {

class SharedLogs {
public:
    explicit SharedLogs(const std::vector<trace::StaticBlock>& blocks) : blocks_(blocks) {}

    static std::string event_keys(const Platform& platform) { return keys_under(platform, "tlb.l1i.") + keys_under(platform, "prefetch."); }
    any_design::EventLog& events(const Platform& platform) { return log_of(events_, event_keys(platform), platform); }
    timing::RedirectLog& redirects(const Platform& platform) { return log_of(redirects_, keys_under(platform, "branch."), platform); }

    void begin_frame() {
        for (auto& [keys, log] : events_) log->begin_frame();
        for (auto& [keys, log] : redirects_) log->begin_frame();
    }
    /// Another group of cells begins with the first chunk of the frame.
    void rewind() {
        for (auto& [keys, log] : events_) log->rewind();
        for (auto& [keys, log] : redirects_) log->rewind();
    }

private:
    template <class Log>
    using Logs = std::map<std::string, std::unique_ptr<Log>>;

    template <class Log>
    Log& log_of(Logs<Log>& logs, const std::string& keys, const Platform& platform) {
        std::unique_ptr<Log>& log = logs[keys];
        if (log == nullptr) log = std::make_unique<Log>(platform, blocks_);
        return *log;
    }

    const std::vector<trace::StaticBlock>& blocks_;
    Logs<any_design::EventLog> events_;
    Logs<timing::RedirectLog> redirects_;
};

}  // namespace tessera::sim
