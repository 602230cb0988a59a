// counting.h - one counted run of a program, from its events file to its counts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "counters/counts.h"
#include "counters/events.h"
#include "tessera/common/problem.h"
#include "counters/region.h"

namespace tessera::counters {

enum class Kind {
    roi,      ///< between the program's markers; several regions add up
    program,  ///< from the end of libmosalloc's start to the program's exit
    whole     ///< from exec to exit
};

/// False if `word` is none of roi, program, whole.
bool parse_kind(const std::string& word, Kind* kind);

/// Call its functions in the order in which they stand here.
class Counting {
public:
    Counting(std::string events_file, std::string counts_file, Kind kind)
        : events_file_(std::move(events_file)), counts_file_(std::move(counts_file)), kind_(kind) {}
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;
    ~Counting();

    /// Reads the events file, tries the counts file, makes the page that hook and launcher share.
    Problem prepare();
    /// True if the program needs libtessera-roi.so.
    bool needs_hook() const { return kind_ != Kind::whole; }
    /// Environment variables for the program, as NAME=VALUE.
    std::vector<std::string> variables() const;
    /// In the program's process, before exec. False: it must not start.
    bool open() const;
    /// In the program's process, as the last step before exec.
    void about_to_start() const;
    /// In the launcher, before the program starts.
    Problem connect();
    /// In the launcher, when a process of the program exits and still exists. `is_target`: it has the layout.
    void at_exit(bool is_target);
    /// After the program ended: empty if its region was counted whole.
    Problem finish();
    Problem write() const { return write_counts(counts_file_, events_, counts_, region_ns_); }

private:
    Problem check_region() const;

    std::string events_file_, counts_file_;
    Kind kind_;
    std::vector<Event> events_;
    int socket_[2] = {-1, -1};
    int page_file_ = -1, first_ = -1;  ///< descriptor of the page in the program, and of the first event
    RegionPage* page_ = nullptr;
    std::vector<int> descriptors_;
    bool exit_seen_ = false;
    std::vector<Count> counts_;
    uint64_t region_ns_ = 0;
};

}  // namespace tessera::counters
