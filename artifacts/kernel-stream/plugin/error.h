// SPDX-License-Identifier: GPL-2.0-only
// error.h - what was asked, what was found, what to do; printed on stderr before QEMU ends.
#pragma once

/// Prints the three parts and ends the process with status 2. `found` is a format.
_Noreturn void stop(const char *asked, const char *remedy, const char *found, ...) __attribute__((format(printf, 3, 4)));
