#include "disk/disk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "disk/constant.h"
#include "disk/flash.h"

const struct disk_model *const disk_models[] = {&disk_constant, &disk_flash, NULL};

static const struct disk_model *model_named(const char *name, size_t length) {
    for (const struct disk_model *const *model = disk_models; *model; ++model)
        if (strlen((*model)->name) == length && memcmp((*model)->name, name, length) == 0) return *model;
    return NULL;
}

static void list_models(char *text, size_t size) {
    size_t at = 0;
    for (const struct disk_model *const *model = disk_models; *model && at < size; ++model)
        at += (size_t)snprintf(text + at, size - at, "%s%s", at == 0 ? "" : ", ", (*model)->name);
}

static void list_keys(const struct disk_model *model, char *text, size_t size) {
    size_t at = 0;
    for (size_t i = 0; i < model->parameters && at < size; ++i)
        at += (size_t)snprintf(text + at, size - at, "%s%s", i == 0 ? "" : ", ", model->parameter[i].key);
}

static bool refuse_key(const struct disk_model *model, const char *text, size_t length, struct error *error) {
    char keys[160];
    list_keys(model, keys, sizeof keys);
    error_asked(error, "disk %s, %.*s", model->name, (int)length, text);
    error_found(error, "its keys are %s; each is followed by = and a number", keys);
    return error_remedy(error, "write for example %s:%s=%" PRIu64, model->name, model->parameter[0].key, model->parameter[0].value);
}

/// `key=value` of `length` bytes.
static bool set(const struct disk_model *model, const char *text, size_t length, uint64_t *value, struct error *error) {
    const char *equals = memchr(text, '=', length);
    const size_t key = equals ? (size_t)(equals - text) : length, digits = equals ? length - key - 1 : 0;
    for (size_t i = 0; i < model->parameters; ++i) {
        const struct disk_parameter *parameter = &model->parameter[i];
        if (strlen(parameter->key) != key || memcmp(parameter->key, text, key) != 0) continue;
        if (digits == 0 || digits > 15 || strspn(equals + 1, "0123456789") < digits) return refuse_key(model, text, length, error);
        value[i] = strtoull(equals + 1, NULL, 10);
        if (value[i] >= parameter->least && value[i] <= parameter->most) return true;
        error_asked(error, "disk %s, %.*s", model->name, (int)length, text);
        error_found(error, "%s lies between %" PRIu64 " and %" PRIu64 " %s", parameter->key, parameter->least, parameter->most,
                    parameter->unit);
        return error_remedy(error, "the default is %" PRIu64, parameter->value);
    }
    return refuse_key(model, text, length, error);
}

bool disk_create(struct disk *disk, const char *text, struct error *error) {
    const size_t name = strcspn(text, ":");
    const struct disk_model *model = model_named(text, name);
    uint64_t value[DISK_MOST_PARAMETERS];
    *disk = (struct disk){0};
    if (!model) {
        char names[100];
        list_models(names, sizeof names);
        error_asked(error, "disk %s", text);
        error_found(error, "the models are %s", names);
        return error_remedy(error, "choose one of them");
    }
    for (size_t i = 0; i < model->parameters; ++i) value[i] = model->parameter[i].value;
    for (const char *at = text + name; *at != '\0';) {
        const size_t length = strcspn(++at, ",");
        if (!set(model, at, length, value, error)) return false;
        at += length;
    }
    disk->state = host_alloc(model->state_bytes);
    if (!model->start(disk->state, value, error)) {
        free(disk->state);
        disk->state = NULL;
        return false;
    }
    disk->model = model;
    return true;
}

void disk_destroy(struct disk *disk) {
    if (disk->model && disk->model->stop) disk->model->stop(disk->state);
    free(disk->state);
    *disk = (struct disk){0};
}

uint64_t disk_read(struct disk *disk, uint64_t now, uint64_t byte, uint64_t bytes) {
    const uint64_t done = disk->model->read(disk->state, now, byte, bytes);
    ++disk->counts.reads;
    disk->counts.read_bytes += bytes;
    disk->counts.read_ns += done - now;
    return done;
}

uint64_t disk_write(struct disk *disk, uint64_t now, uint64_t byte, uint64_t bytes) {
    const uint64_t done = disk->model->write(disk->state, now, byte, bytes);
    ++disk->counts.writes;
    disk->counts.written_bytes += bytes;
    disk->counts.write_ns += done - now;
    return done;
}
