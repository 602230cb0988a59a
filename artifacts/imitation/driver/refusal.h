// refusal.h - what the driver throws: asked, found, remedy, and the exit status (2: wrong request, 1: failed work).
#pragma once

#include "tessera/common/error.h"

namespace tessera::os {

struct Refusal : Error {
    using Error::Error;
};

}  // namespace tessera::os
