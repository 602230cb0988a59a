// SPDX-License-Identifier: GPL-2.0-only
#include "runs.h"

bool runs_add(struct runs *runs, const struct access *access, struct access *ended) {
    struct access *run = &runs->open[access->store];
    if (run->bytes && run->virtual_address + run->bytes == access->virtual_address &&
        run->physical_address + run->bytes == access->physical_address) {
        run->bytes += access->bytes;
        return false;
    }
    const bool ends = run->bytes != 0;
    if (ends) *ended = *run;
    *run = *access;
    return ends;
}

bool runs_take(struct runs *runs, struct access *ended) {
    for (int i = 0; i < 2; i++) {
        if (runs->open[i].bytes) {
            *ended = runs->open[i];
            runs->open[i].bytes = 0;
            return true;
        }
    }
    return false;
}
