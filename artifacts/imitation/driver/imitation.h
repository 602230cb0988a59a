// imitation.h - the headers of the C library, for C++.
#pragma once

extern "C" {
#include "phys/alloc.h"
#include "phys/fragmenter.h"
#include "phys/indices.h"
#include "phys/percpu.h"
#include "phys/watermarks.h"
#include "vm/fault.h"
#include "vm/khugepaged.h"
}
