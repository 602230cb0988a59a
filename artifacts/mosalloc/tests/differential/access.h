// access.h - reads and writes memory that may not be mapped.
#pragma once

#include "state.h"

namespace differential {

/// Must run once before any other call here.
void catch_faults();

/// 0, or the signal that the access ended in.
int try_read(const char* at);
int try_write(char* at);

/// Hash of 16 words of the page (the words that `write_page` can change), or 1 + signal if it can't be read.
uint64_t read_page(const char* page);
/// Hash of all its bytes.
uint64_t read_whole_page(const char* page);
/// Changes one word; the signal, or 0. `whole` gives every byte a value.
int write_page(char* page, uint64_t value, bool whole);

}  // namespace differential
