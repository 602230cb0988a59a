// list.h - circular lists of 32-bit indices, doubly linked, with all links in one array.
//
// Encoding: elements are the indices 0..n-1 of the array. A list is a head: one more index of the same array, above all elements.
// An empty list's head links to itself. An element that is on no list has undefined links. 8 bytes for each index.
// Nothing checks membership: the owner of the array knows which element is on which list.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct link {
    uint32_t previous, next;
};

static inline void list_init(struct link *links, uint32_t head) { links[head].previous = links[head].next = head; }

static inline bool list_empty(const struct link *links, uint32_t head) { return links[head].next == head; }

static inline uint32_t list_first(const struct link *links, uint32_t head) { return links[head].next; }

static inline uint32_t list_last(const struct link *links, uint32_t head) { return links[head].previous; }

static inline void list_insert_between(struct link *links, uint32_t before, uint32_t element, uint32_t after) {
    links[element].previous = before;
    links[element].next = after;
    links[before].next = element;
    links[after].previous = element;
}

static inline void list_add_first(struct link *links, uint32_t head, uint32_t element) {
    list_insert_between(links, head, element, links[head].next);
}

static inline void list_add_last(struct link *links, uint32_t head, uint32_t element) {
    list_insert_between(links, links[head].previous, element, head);
}

static inline void list_remove(struct link *links, uint32_t element) {
    const struct link gone = links[element];
    links[gone.previous].next = gone.next;
    links[gone.next].previous = gone.previous;
}
