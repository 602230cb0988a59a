// constant.h - each request takes the same time, and none waits for another.
#pragma once

#include "disk/disk.h"

extern const struct disk_model disk_constant;
