// imitation.h - the headers of the C library, for C++.
#pragma once

extern "C" {
#include "disk/disk.h"
#include "file/read.h"
#include "phys/alloc.h"
#include "phys/fragmenter.h"
#include "phys/indices.h"
#include "phys/percpu.h"
#include "phys/watermarks.h"
#include "vm/anon.h"
#include "vm/fault.h"
#include "vm/fault_file.h"
#include "vm/hugetlb.h"
#include "vm/khugepaged.h"
#include "vm/policy.h"
#include "vm/slow_path.h"
}
