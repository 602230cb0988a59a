// SPDX-License-Identifier: GPL-2.0-only
// control.h - the control file of `roi=switch:FILE`: four bytes that this process and a companion both map.
//
// Positions: 0 on or off (the companion writes it); 1 a plugin reads the file, 2 recording, 3 limit reached (the plugin
// writes them). Reading is one load, so the plugin does it at each system call.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::tracer {

class Control {
public:
    /// Maps the file and sets position 1. Throws Error.
    void open(const std::string& path);
    bool asked() const { return page_[0] == 1; }
    void set_recording(bool on) { page_[2] = on; }
    void set_limit_reached() {
        if (page_) page_[3] = 1;
    }
    bool is_open() const { return page_ != nullptr; }

private:
    volatile uint8_t* page_ = nullptr;
};

}  // namespace tessera::tracer
