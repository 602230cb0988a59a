// tessera-collapse: khugepaged's decisions on ranges of 2MB that a file describes.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "cli/command_line.h"
#include "cli/machine.h"
#include "vm/collapse.h"

static const char *const help =
    "Decides, as khugepaged of Linux 6.12 does, which ranges of 2MB become one huge page.\n"
    "\n"
    "  tessera-collapse CELLS [OPTIONS]\n"
    "\n"
    "Options\n"
    "  --max-ptes-none N   empty entries that khugepaged fills, 0 to 511 (default 511)\n"
    "  --max-ptes-swap N   swapped entries that it brings back, 0 to 511 (default 64)\n"
    "\n"
    "A line of CELLS is a range: rw or r, the rights of its present pages, and then runs of its 512 entries, with ascending addresses.\n"
    "A run is a letter and a count: n none, z zero page, s swapped, y present and young, o present and not young.\n"
    "Output, a line for each range: its number from 0, the decision, and the counts up to the entry where the scan ended.\n"
    "The decision \"collapsed\" still needs a free block of 2MB. Exit status: 0, or 2 if the command line or the file is wrong.\n"
    "\n"
    "Example\n"
    "  printf 'rw n511 y1\\nrw n512\\n' > /tmp/cells && tessera-collapse /tmp/cells\n";

static bool parse(int count, char **arguments, struct thp *thp, const char **path, bool *asks_help, struct error *error) {
    const struct option table[] = {{"--max-ptes-none", .number = &thp->max_ptes_none, .most = PT_SLOTS - 1},
                                   {"--max-ptes-swap", .number = &thp->max_ptes_swap, .most = PT_SLOTS - 1},
                                   {.name = NULL}};
    const struct command_line line = {"tessera-collapse", table, {path}, asks_help};
    if (!command_line_parse(&line, count, arguments, error)) return false;
    return *asks_help || *path || command_line_refuse(error, line.program, "CELLS", NULL, "a file of ranges follows");
}

/// The entry of a letter; `write` is PT_WRITE or 0. False for another letter.
static bool entry_of(char letter, unsigned write, pt_entry *entry) {
    switch (letter) {
        case 'n': *entry = 0; return true;
        case 'z': *entry = pt_make(0, PT_PRESENT | PT_ZERO | PT_YOUNG); return true;
        case 's': *entry = pt_make(1, PT_SWAP); return true;
        case 'y': *entry = pt_make(1, PT_PRESENT | PT_YOUNG | write); return true;
        case 'o': *entry = pt_make(1, PT_PRESENT | write); return true;
        default: return false;
    }
}

static const char *read_cell(const struct line *line, pt_entry of_range[PT_SLOTS]) {
    static const char *const rule = "rw or r, then runs like n511 y1 of 512 entries: n, z, s, y or o and a count";
    const bool write = field_is(line, 0, "rw");
    uint64_t at = 0;
    if (!write && !field_is(line, 0, "r")) return rule;
    for (uint32_t field = 1; field < line->count; ++field) {
        struct line number = *line;
        uint64_t length;
        pt_entry entry;
        ++number.field[field];
        --number.length[field];
        if (!entry_of(line->field[field][0], write ? PT_WRITE : 0, &entry)) return rule;
        if (!field_number(&number, field, 1, PT_SLOTS - at, &length)) return rule;
        for (uint64_t end = at + length; at < end; ++at) of_range[at] = entry;
    }
    return at == PT_SLOTS ? NULL : rule;
}

static bool decide(const struct vm_system *system, const char *text, size_t bytes, const char *path, struct error *error) {
    pt_entry range[PT_SLOTS] = {0};
    struct lines lines;
    struct line line;
    const char *rule = NULL;
    lines_start(&lines, text, bytes, path);
    for (uint64_t cell = 0; !rule && lines_next(&lines, &line); ++cell) {
        struct collapse_counts counts;
        rule = read_cell(&line, range);
        if (rule) break;
        const enum collapse_result result = collapse_scan(system, range, &counts);
        printf("%" PRIu64 " %s none=%u swap=%u young=%u\n", cell, collapse_result_name(result), counts.none, counts.swap, counts.young);
    }
    if (!rule && !lines.broken) return true;
    return lines_refuse(&lines, rule ? rule : lines.broken, "correct this range", error);
}

int main(int count, char **arguments) {
    uint32_t no_mappings[1] = {0};
    struct vm_system system = {.thp = thp_default(), .mappings = no_mappings};
    struct error error;
    const char *path = NULL;
    bool asks_help = false;
    size_t bytes;
    const bool fine = parse(count, arguments, &system.thp, &path, &asks_help, &error);
    if (asks_help) return fputs(help, stdout) < 0;
    char *text = fine ? read_file(path, &bytes, &error) : NULL;
    const bool done = text && decide(&system, text, bytes, path, &error);
    if (!done) error_print(&error, "tessera-collapse", stderr);
    free(text);
    return done ? 0 : 2;
}
