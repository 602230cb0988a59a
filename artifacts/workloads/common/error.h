// error.h - the exception of all workloads. Exit status 2: a wrong request; 1: the verifier found an error.
#pragma once

#include "tessera/common/error.h"

namespace tessera::workloads {

using tessera::Error;
using tessera::kExitFailed;
using tessera::kExitUsage;

}  // namespace tessera::workloads
