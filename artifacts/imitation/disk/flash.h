// flash.h - a flash disk: channels with dies behind them, one queue a die, one transfer a channel at a time.
//
// Model: the disk is an array of flash pages. Page p lies on channel p % channels, die (p / channels) % dies of that channel: neighbours lie on
// different channels, as in the static allocation that MQSim calls CWDP (Tavakkol et al., FAST 2018). A request is cut into pages.
// - A read of a page: its die works for tR, then the channel carries the page for page / bus. A die serves one page at a time, first come first
//   served, and does not start a page before the one in front has left it (no cache register). A channel carries one page at a time, in
//   the first gap that is long enough after the page is ready.
// - A write of a page: the channel carries the page, then the die works for tPROG. The die is taken from the start of the transfer on.
// - A request ends with its last page, `overhead` later (host interface and firmware, not queued).
// Left out: planes, garbage collection, wear, a mapping table that does not fit in RAM, a write cache, suspended programs.
#pragma once

#include "disk/disk.h"

extern const struct disk_model disk_flash;
