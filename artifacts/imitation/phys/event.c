#include "phys/event.h"

#include <stdbool.h>
#include <stdio.h>

#include "phys/types.h"

/// Which fields a kind has, and how its two counts are called.
struct shape {
    const char *name;
    bool zone, frame, order, type, other_type, tail;
    const char *count, *other;
};

static const struct shape shapes[PHYS_EVENT_KINDS] = {
    [PHYS_ALLOC] = {"alloc", .zone = true, .frame = true, .order = true, .type = true},
    [PHYS_REFUSED] = {"refused", .order = true, .type = true, .other = "outcome"},
    [PHYS_FREE] = {"free", .zone = true, .frame = true, .order = true, .type = true},
    [PHYS_REFILL] = {"refill", .zone = true, .order = true, .type = true, .count = "asked", .other = "got"},
    [PHYS_TAKE] = {"take", .zone = true, .frame = true, .order = true, .type = true, .other = "from"},
    [PHYS_PUT] = {"put", .zone = true, .frame = true, .order = true, .type = true, .tail = true, .other = "from"},
    [PHYS_CLAIM] = {"claim", .zone = true, .frame = true, .order = true, .type = true, .other_type = true, .other = "from"},
    [PHYS_STEAL] = {"steal", .zone = true, .frame = true, .order = true, .type = true, .other_type = true, .other = "from"},
    [PHYS_BOOST] = {"boost", .zone = true, .count = "frames"},
    [PHYS_DRAIN] = {"drain", .zone = true, .count = "asked", .other = "got"},
    [PHYS_BELOW_HIGH] = {"below_high", .zone = true, .other = "value"},
    [PHYS_RESERVE] = {"reserve", .zone = true, .frame = true, .order = true, .type = true, .other_type = true},
    [PHYS_UNRESERVE] = {"unreserve", .zone = true, .frame = true, .order = true, .type = true, .other_type = true},
    [PHYS_WAKE] = {"wake", .order = true, .count = "highest_zone"},
};

const char *phys_event_name(int kind) { return kind >= 0 && kind < PHYS_EVENT_KINDS ? shapes[kind].name : "?"; }

static size_t number(char *text, size_t at, const char *name, uint32_t value) {
    return at + (size_t)snprintf(text + at, PHYS_EVENT_TEXT_BYTES - at, " %s=%u", name, value);
}

static size_t word(char *text, size_t at, const char *name, const char *value) {
    return at + (size_t)snprintf(text + at, PHYS_EVENT_TEXT_BYTES - at, " %s=%s", name, value);
}

size_t phys_event_text(const struct phys_event *event, char text[PHYS_EVENT_TEXT_BYTES]) {
    const struct shape *shape = &shapes[event->kind < PHYS_EVENT_KINDS ? event->kind : PHYS_ALLOC];
    size_t at = (size_t)snprintf(text, PHYS_EVENT_TEXT_BYTES, "%s cpu=%u", phys_event_name(event->kind), event->cpu);
    if (shape->zone) at = word(text, at, "zone", phys_zone_name(event->zone));
    if (shape->frame) at = number(text, at, "frame", event->frame);
    if (shape->order) at = number(text, at, "order", event->order);
    if (shape->type) at = word(text, at, "type", phys_type_name(event->type));
    if (shape->other_type) at = word(text, at, "instead_of", phys_type_name(event->other_type));
    if (shape->count) at = number(text, at, shape->count, event->count);
    if (shape->other) at = number(text, at, shape->other, event->other);
    if (shape->tail) at = word(text, at, "end", event->tail ? "tail" : "head");
    return at;
}

void phys_event_print(void *stream, const struct phys_event *event) {
    char text[PHYS_EVENT_TEXT_BYTES];
    phys_event_text(event, text);
    fprintf(stream, "  %s\n", text);
}
