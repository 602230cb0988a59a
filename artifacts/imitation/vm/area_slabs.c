#include "vm/area_slabs.h"

#include <stdlib.h>

#include "base/host.h"

void area_slabs_create(struct area_slabs *slabs, struct phys *phys, uint32_t possible_cpus) {
    *slabs = (struct area_slabs){.anons = 1};
    for (int i = 0; i < SLAB_MAPLE_NODE; ++i) slab_cache_create(&slabs->cache[i], phys, &slab_known[i], possible_cpus);
}

void area_slabs_destroy(struct area_slabs *slabs) {
    for (int i = 0; i < SLAB_MAPLE_NODE; ++i) slab_cache_destroy(&slabs->cache[i], 0);
    free(slabs->anon);
    *slabs = (struct area_slabs){0};
}

static slab_object get(struct area_slabs *slabs, enum slab_known kind) {
    enum phys_outcome outcome;
    const slab_object object = slab_alloc(&slabs->cache[kind], slabs->cpu, &outcome);
    slabs->failed += object == SLAB_NO_OBJECT;
    return object;
}

static void put(struct area_slabs *slabs, enum slab_known kind, slab_object object) {
    if (object != SLAB_NO_OBJECT) slab_free(&slabs->cache[kind], object, slabs->cpu);
}

static uint32_t new_anon(struct area_slabs *slabs, uint32_t root) {
    uint32_t anon = slabs->spare;
    if (anon != 0) {
        slabs->spare = slabs->anon[anon].root;
    } else {
        anon = (uint32_t)slabs->anons++;
        slabs->anon = host_grow(slabs->anon, &slabs->anon_room, slabs->anons, sizeof *slabs->anon);
    }
    slabs->anon[anon] = (struct anon_object){.object = get(slabs, SLAB_ANON_VMA), .root = root == 0 ? anon : root};
    if (root != 0) ++slabs->anon[root].children;
    return anon;
}

static void free_anon(struct area_slabs *slabs, uint32_t anon) {
    put(slabs, SLAB_ANON_VMA, slabs->anon[anon].object);
    slabs->anon[anon].root = slabs->spare;
    slabs->spare = anon;
}

/// put_anon_vma, of one without links. The root of a family goes with its last member.
static void put_anon(struct area_slabs *slabs, uint32_t anon) {
    const uint32_t root = slabs->anon[anon].root;
    slabs->anon[anon].put = true;
    if (root != anon) {
        free_anon(slabs, anon);
        --slabs->anon[root].children;
    }
    if (slabs->anon[root].put && slabs->anon[root].children == 0) free_anon(slabs, root);
}

static void add_link(struct area_slabs *slabs, struct area_objects *objects, slab_object link, uint32_t anon) {
    objects->link = host_grow(objects->link, &objects->room, objects->links + 1, sizeof *objects->link);
    objects->link[objects->links++] = (struct area_link){link, anon};
    ++slabs->anon[anon].links;
}

struct area_objects area_objects_new(struct area_slabs *slabs) {
    struct area_objects objects = {.area = get(slabs, SLAB_VM_AREA)};
    objects.lock = get(slabs, SLAB_VMA_LOCK);
    return objects;
}

void area_objects_clone(struct area_slabs *slabs, struct area_objects *objects, const struct area_objects *from) {
    for (size_t i = 0; i < from->links; ++i) add_link(slabs, objects, get(slabs, SLAB_ANON_VMA_CHAIN), from->link[i].anon);
}

struct area_objects area_objects_copy(struct area_slabs *slabs, const struct area_objects *from) {
    struct area_objects objects = area_objects_new(slabs);
    area_objects_clone(slabs, &objects, from);
    return objects;
}

void area_objects_prepare(struct area_slabs *slabs, struct area_objects *objects, const struct area_objects *neighbour) {
    const slab_object link = get(slabs, SLAB_ANON_VMA_CHAIN);
    add_link(slabs, objects, link, neighbour ? neighbour->link[neighbour->links - 1].anon : new_anon(slabs, 0));
}

void area_objects_fork(struct area_slabs *slabs, struct area_objects *objects) {
    const uint32_t parent = objects->link[objects->links - 1].anon, anon = new_anon(slabs, slabs->anon[parent].root);
    add_link(slabs, objects, get(slabs, SLAB_ANON_VMA_CHAIN), anon);
}

/// unlink_anon_vmas: newest first; links of anon_vmas that are empty now go in a second round, after these.
static void unlink_all(struct area_slabs *slabs, struct area_objects *objects) {
    for (size_t i = objects->links; i-- > 0;) {
        struct area_link *link = &objects->link[i];
        if (--slabs->anon[link->anon].links == 0) continue;
        put(slabs, SLAB_ANON_VMA_CHAIN, link->object);
        link->anon = 0;
    }
    for (size_t i = objects->links; i-- > 0;) {
        const struct area_link *link = &objects->link[i];
        if (link->anon == 0) continue;
        put_anon(slabs, link->anon);
        put(slabs, SLAB_ANON_VMA_CHAIN, link->object);
    }
}

void area_objects_free(struct area_slabs *slabs, struct area_objects *objects) {
    unlink_all(slabs, objects);
    free(objects->link);
    put(slabs, SLAB_VMA_LOCK, objects->lock);
    put(slabs, SLAB_VM_AREA, objects->area);
    *objects = (struct area_objects){SLAB_NO_OBJECT, SLAB_NO_OBJECT, NULL, 0, 0};
}
