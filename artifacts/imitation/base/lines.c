#include "base/lines.h"

#include <inttypes.h>
#include <string.h>

void lines_start(struct lines *lines, const char *text, size_t bytes, const char *name) {
    *lines = (struct lines){.next = text, .end = text + bytes, .name = name};
}

static bool split(struct lines *lines, const char *start, const char *end, struct line *line) {
    line->count = 0;
    for (const char *field = start;;) {
        const char *stop = field;
        while (stop < end && *stop > ' ' && *stop <= '~') ++stop;
        if (stop == field || (stop < end && *stop != ' ')) lines->broken = "fields are printable ASCII, with one space between them";
        else if (line->count == LINE_MOST_FIELDS) lines->broken = "a line has at most 40 fields";
        if (lines->broken) return false;
        line->field[line->count] = field;
        line->length[line->count++] = (uint32_t)(stop - field);
        if (stop == end) return true;
        field = stop + 1;
    }
}

bool lines_next(struct lines *lines, struct line *line) {
    while (lines->next < lines->end && !lines->broken) {
        const char *start = lines->next, *stop = memchr(start, '\n', (size_t)(lines->end - start));
        ++lines->number;
        if (!stop) {
            lines->broken = "the last line ends with an end of line";
            return false;
        }
        lines->next = stop + 1;
        if (stop > start && *start != '#') return split(lines, start, stop, line);
    }
    return false;
}

bool lines_refuse(const struct lines *lines, const char *rule, const char *remedy, struct error *error) {
    error_asked(error, "%s line %" PRIu64, lines->name, lines->number);
    error_found(error, "%s", rule);
    return error_remedy(error, "%s", remedy);
}

bool field_is(const struct line *line, uint32_t field, const char *word) {
    const size_t length = strlen(word);
    return field < line->count && line->length[field] == length && memcmp(line->field[field], word, length) == 0;
}

bool field_number(const struct line *line, uint32_t field, uint64_t least, uint64_t most, uint64_t *value) {
    if (field >= line->count || line->length[field] > 19) return false;
    const char *text = line->field[field];
    uint64_t number = 0;
    if (line->length[field] > 1 && text[0] == '0') return false;
    for (uint32_t i = 0; i < line->length[field]; ++i) {
        if (text[i] < '0' || text[i] > '9') return false;
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    *value = number;
    return number >= least && number <= most;
}

bool field_signed(const struct line *line, uint32_t field, int64_t least, int64_t most, int64_t *value) {
    const bool negative = field < line->count && line->field[field][0] == '-';
    struct line digits = *line;
    uint64_t number;
    if (negative) {
        ++digits.field[field];
        --digits.length[field];
    }
    if (field >= line->count || digits.length[field] == 0 || !field_number(&digits, field, negative, INT64_MAX, &number)) return false;
    *value = negative ? -(int64_t)number : (int64_t)number;
    return *value >= least && *value <= most;
}

bool field_hex(const struct line *line, uint32_t field, uint64_t *value) {
    if (field >= line->count || line->length[field] < 3 || line->length[field] > 18) return false;
    const char *text = line->field[field];
    *value = 0;
    if (text[0] != '0' || text[1] != 'x') return false;
    for (uint32_t i = 2; i < line->length[field]; ++i) {
        const char c = text[i];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0) return false;
        *value = *value << 4 | (uint64_t)digit;
    }
    return true;
}

bool field_copy(const struct line *line, uint32_t field, char *copy, size_t size) {
    if (field >= line->count || line->length[field] >= size) return false;
    memcpy(copy, line->field[field], line->length[field]);
    copy[line->length[field]] = '\0';
    return true;
}
