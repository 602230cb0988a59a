// areas.h - the model of a thread's memory, and the checks at the end of every operation.
#pragma once

#include "state.h"

namespace differential {

constexpr uint8_t kUnknownProt = 0x80;  ///< a call that failed half way

/// A random area that has pages, and a random part of it of at most `limit` pages.
Span any_span(Thread& t, unsigned limit = 8);
/// A random part whose pages one call made and nothing split since; false if the choice fails.
bool uniform_span(Thread& t, unsigned limit, Span* out);

void set_pages(Thread& t, Span span, Kind kind, int prot);
/// The pages keep what they are, but neighbours may have become mappings of their own.
void split(Thread& t, Span span);
void set_prot(Thread& t, Span span, int prot);

/// Reads a page and logs what was found; knows which pages have no defined contents.
void check_page(Thread& t, const Area& area, unsigned page, bool whole = false);
void write_one(Thread& t, Area& area, unsigned page);
/// Reads and writes the last byte's page where it may fault; logs the signals. Nothing under --no-faults.
void probe_faults(Thread& t, const Area& area, unsigned page);
/// All touched pages of all areas, and both ends of all blocks.
void check_everything(Thread& t);

/// mmap of random kind. `at` is null or a place of the thread's own with MAP_FIXED*, whose model it updates.
struct Request {
    Kind kind;
    int prot, flags, fd;
    long file_page;
};
Request any_request(Thread& t, bool over_memory);
/// Maps a new area into slot `area`, which must be empty.
bool map_area(Thread& t, unsigned area, unsigned pages, const Request& request, char* hint);
void drop_area(Thread& t, unsigned area);
/// Maps memory again over each hole of the area, which must never outlive the operation that made it.
void fill_holes(Thread& t, unsigned area);

}  // namespace differential
