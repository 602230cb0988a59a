// touch.cpp - reads and writes of memory between calls.
#include "operations.h"

namespace differential {

void op_write(Thread& t) {
    const Span span = any_span(t, 3);
    t.log.begin("write", span.area, span.first, span.end);
    for (unsigned i = span.first; i < span.end; ++i) write_one(t, t.areas[span.area], i);
    t.log.end();
}

void op_read(Thread& t) {
    const Span span = any_span(t, 4);
    t.log.begin("read", span.area, span.first, span.end);
    for (unsigned i = span.first; i < span.end; ++i) check_page(t, t.areas[span.area], i, i == span.first);
    t.log.end();
}

void op_faults(Thread& t) {
    const Span span = any_span(t, 2);
    t.log.begin("faults", span.area, span.first, span.end);
    for (unsigned i = span.first; i < span.end; ++i) probe_faults(t, t.areas[span.area], i);
    t.log.end();
}

}  // namespace differential
