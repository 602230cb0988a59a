// SPDX-License-Identifier: GPL-2.0-only
// control.h - the control file of `roi=switch:FILE`: four bytes that this process and a companion both map.
//
// Positions: 0 asked (written by the companion), 1 somebody listens, 2 recording, 3 the limit is reached (written here).
// Looking is one load, so it can be done at each system call.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::tracer {

class Control {
public:
    /// Maps the file and says that somebody listens. Throws std::runtime_error.
    void open(const std::string& path);
    bool asked() const { return page_[0] == 1; }
    void set_recording(bool on) { page_[2] = on; }
    void set_limit_reached() { if (page_) page_[3] = 1; }
    bool is_open() const { return page_ != nullptr; }

private:
    volatile uint8_t* page_ = nullptr;
};

}  // namespace tessera::tracer
