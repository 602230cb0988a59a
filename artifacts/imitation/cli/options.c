#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

const char *const options_help =
    "Imitates how Linux 6.12 allocates and frees physical memory.\n"
    "\n"
    "  tessera-phys show START [OPTIONS]             zones, watermarks, free blocks, fragmentation indices\n"
    "  tessera-phys replay EVENTS START [OPTIONS]    runs the events of a file and prints what each one got\n"
    "  tessera-phys fragment START [OPTIONS]         pins frames until an index has a value; give --write-snapshot, too\n"
    "\n"
    "START is one of\n"
    "  --memory SIZE        a PC with this much memory, all of it free; MB or GB, for example 4GB\n"
    "  --map FILE           a memory map, all of it free; lines: ram START END, reserved START END (hexadecimal bytes)\n"
    "  --snapshot FILE      a state that --write-snapshot wrote, or that was read from a kernel\n"
    "\n"
    "Options of the machine (with --memory and --map)\n"
    "  --cpus N             1 to 64 CPUs (default 1)\n"
    "  --thp on|off         huge pages: they raise min_free_kbytes (default on; with less than 512MB managed: off)\n"
    "  --min-free-kbytes N  value written to vm.min_free_kbytes (default: the kernel's own)\n"
    "  --boost-factor N     vm.watermark_boost_factor, in 1/10000 (default 15000)\n"
    "  --cache-slice BYTES  data cache of a CPU, shared levels divided (default 0)\n"
    "\n"
    "Other options\n"
    "  --write-snapshot FILE  writes the final state\n"
    "  --decisions            replay: prints every decision under the event that caused it\n"
    "  --zone NAME            fragment: DMA, DMA32 or Normal (default Normal)\n"
    "  --index NAME           fragment: extfrag or unusable (default unusable)\n"
    "  --order N              fragment: order of the index, 1 to 10 (default 9)\n"
    "  --target N             fragment: the index, in thousandths (required)\n"
    "  --tolerance N          fragment: in thousandths (default 5)\n"
    "  --movable-share N      fragment: pinned frames that compaction could move, in thousandths (default 0)\n"
    "  --seed N               fragment: the same seed pins the same frames (default 1)\n"
    "\n"
    "Events, one on a line. ID is a number of your choice for a block in use\n"
    "  alloc ID ORDER TYPE [zone=NAME] [cpu=N] [no-wake] [no-reclaim] [use-reserve] [no-reserves]\n"
    "  free ID [cpu=N]           free-frame FRAME ORDER [cpu=N]   (a block in use before the snapshot)\n"
    "  lru ID on|off             drain [cpu=N]                    refresh [cpu=N]\n"
    "  kswapd [zone=NAME]        kswapd finishes a pass over this zone and those below (default Normal): their boosts end\n"
    "TYPE is Unmovable, Movable or Reclaimable. Output: `ID FRAME`, or `ID none REASON`. Exit status: 0, or 1 if an event is\n"
    "impossible or a goal was not reached, or 2 if the command line is wrong or a file cannot be read.\n"
    "\n"
    "Example\n"
    "  printf 'alloc 1 9 Movable\\nfree 1\\n' > /tmp/events && tessera-phys replay /tmp/events --memory 1GB --decisions\n";

static bool refuse(struct error *error, const char *option, const char *value, const char *rule) {
    error_asked(error, "%s%s%s", option, value ? " " : "", value ? value : "");
    error_found(error, "%s", rule);
    return error_remedy(error, "run: tessera-phys --help");
}

static bool number(const char *text, uint64_t most, uint64_t *value) {
    char *end;
    if (text[0] < '0' || text[0] > '9') return false;
    *value = strtoull(text, &end, 10);
    return *end == '\0' && strlen(text) < 19 && *value <= most;
}

static bool size_bytes(const char *text, uint64_t *bytes) {
    const size_t length = strlen(text);
    char digits[16];
    if (length < 3 || length > 14 || text[length - 1] != 'B') return false;
    const unsigned shift = text[length - 2] == 'G' ? 30 : text[length - 2] == 'M' ? 20 : 0;
    memcpy(digits, text, length - 2);
    digits[length - 2] = '\0';
    if (shift == 0 || !number(digits, UINT64_C(1) << 20, bytes)) return false;
    *bytes <<= shift;
    return *bytes > 0;
}

/// Numeric options: name, largest value, where the value goes; `part` tells what it is an option of.
enum part { MACHINE, GOAL };
static bool numeric(struct options *options, const char *name, const char *value, bool *known, bool *fits) {
    const struct {
        const char *name;
        uint64_t most;
        enum part part;
    } table[] = {{"--cpus", PHYS_MAX_CPUS, MACHINE},   {"--min-free-kbytes", INT32_MAX, MACHINE},
                 {"--boost-factor", 1000000, MACHINE}, {"--cache-slice", UINT64_C(1) << 40, MACHINE},
                 {"--order", PHYS_MAX_ORDER, GOAL},    {"--target", 1000, GOAL},
                 {"--tolerance", 2000, GOAL},          {"--movable-share", 1000, GOAL},
                 {"--seed", INT64_MAX, GOAL}};
    uint64_t n = 0;
    size_t i = 0;
    while (i < sizeof table / sizeof *table && strcmp(name, table[i].name) != 0) ++i;
    *known = i < sizeof table / sizeof *table;
    if (!*known) return false;
    *fits = number(value, table[i].most, &n);
    options->has_config |= table[i].part == MACHINE;
    options->has_goal |= table[i].part == GOAL;
    switch (i) {
        case 0: options->config.cpus = (uint32_t)n; break;
        case 1: options->config.user_min_free_kbytes = (int32_t)n; break;
        case 2: options->config.watermark_boost_factor = (uint32_t)n; break;
        case 3: options->config.cache_slice_bytes = n; break;
        case 4: options->goal.order = (unsigned)n; break;
        case 5: options->goal.target = (int)n; break;
        case 6: options->goal.tolerance = (int)n; break;
        case 7: options->goal.movable_share = (int)n; break;
        default: options->goal.seed = n;
    }
    return *fits;
}

static bool named(struct options *options, const char *name, const char *value, bool *known) {
    *known = true;
    if (strcmp(name, "--snapshot") == 0) return (options->snapshot = value) != NULL;
    if (strcmp(name, "--map") == 0) return (options->map = value) != NULL;
    if (strcmp(name, "--write-snapshot") == 0) return (options->write_snapshot = value) != NULL;
    if (strcmp(name, "--memory") == 0) return size_bytes(value, &options->memory_bytes);
    if (strcmp(name, "--thp") == 0) {
        options->has_config = true;
        options->config.thp = strcmp(value, "on") == 0 ? PHYS_THP_ON : PHYS_THP_OFF;
        return options->config.thp == PHYS_THP_ON || strcmp(value, "off") == 0;
    }
    if (strcmp(name, "--zone") == 0) {
        const int zone = phys_zone_named(value);
        options->has_goal = true;
        options->goal.zone = zone < 0 ? PHYS_NORMAL : (enum phys_zone)zone;
        return zone >= 0;
    }
    if (strcmp(name, "--index") == 0) {
        options->has_goal = true;
        options->goal.index = strcmp(value, "extfrag") == 0 ? FRAGMENTER_EXTFRAG : FRAGMENTER_UNUSABLE;
        return options->goal.index == FRAGMENTER_EXTFRAG || strcmp(value, "unusable") == 0;
    }
    return *known = false;
}

static bool complete(const struct options *options, struct error *error) {
    const char *command = options->command ? options->command : "";
    const bool replay = strcmp(command, "replay") == 0, fragment = strcmp(command, "fragment") == 0;
    const int starts = (options->snapshot != NULL) + (options->map != NULL) + (options->memory_bytes > 0);
    if (!replay && !fragment && strcmp(command, "show") != 0)
        return refuse(error, "command", command, "the commands are show, replay and fragment");
    if (replay != (options->events != NULL))
        return refuse(error, command, options->events, replay ? "a file of events follows" : "no other argument follows");
    if (starts != 1) return refuse(error, command, NULL, "give one of --memory, --map and --snapshot");
    if (options->snapshot && options->has_config)
        return refuse(error, "--snapshot", options->snapshot, "the snapshot contains the machine; leave its options out");
    if (options->decisions && !replay) return refuse(error, "--decisions", NULL, "only replay has this option");
    if (options->has_goal != fragment || (fragment && options->goal.target < 0))
        return refuse(error, command, NULL, "fragment needs --target; other commands have no such options");
    return !fragment || options->write_snapshot ? true : refuse(error, command, NULL, "give --write-snapshot, too");
}

bool options_parse(struct options *options, int count, char **arguments, struct error *error) {
    *options = (struct options){.config = phys_config_default()};
    options->goal =
        (struct fragmenter_goal){.zone = PHYS_NORMAL, .index = FRAGMENTER_UNUSABLE, .order = 9, .target = -1, .tolerance = 5, .seed = 1};
    for (int i = 1; i < count; ++i) {
        const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return options->help = true;
        if (strcmp(name, "--decisions") == 0) {
            options->decisions = true;
        } else if (name[0] != '-') {
            if (options->command && options->events) return refuse(error, name, NULL, "there are too many arguments");
            *(options->command ? &options->events : &options->command) = name;
        } else {
            bool known = false, fits = true;
            const bool fine = value && (numeric(options, name, value, &known, &fits) || (!known && named(options, name, value, &known)));
            if (!value) return refuse(error, name, NULL, "an option is followed by its value");
            if (!known) return refuse(error, name, NULL, "there is no such option");
            if (!fine) return refuse(error, name, value, "the value does not fit this option");
            ++i;
        }
    }
    return complete(options, error);
}
