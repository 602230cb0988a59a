// maps.h - who may map memory when: while one thread makes a hole, no other thread and no signal handler may fill it.
#pragma once

#include "state.h"

namespace differential {

/// Held during each step that maps memory. Not recursive.
class Maps {
public:
    enum Use { shared, alone };
    Maps(const Thread& t, Use use);
    ~Maps();
    Maps(const Maps&) = delete;
    Maps& operator=(const Maps&) = delete;
    /// In a forked child, where no other thread exists that could release it.
    static void reset();

private:
    bool locked_;
};

/// In a signal handler: whether the interrupted thread may map memory now.
bool handler_may_map();

}  // namespace differential
