#include "base/events.h"

#include <stdarg.h>
#include <stdio.h>

void events_tell(const struct events *events, const char *format, ...) {
    char text[160];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    events->decision(events->context, text);
}
