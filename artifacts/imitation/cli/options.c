#include "cli/options.h"

#include <string.h>

#include "cli/command_line.h"

static const char *const program = "tessera-phys";

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

static bool complete(const struct options *options, struct error *error) {
    const char *command = options->command ? options->command : "";
    const bool replay = strcmp(command, "replay") == 0, fragment = strcmp(command, "fragment") == 0;
    const int starts = (options->snapshot != NULL) + (options->map != NULL) + (options->memory_bytes > 0);
    const char *asked = command, *value = NULL, *rule = NULL;
    if (!replay && !fragment && strcmp(command, "show") != 0) {
        asked = "command", value = command, rule = "the commands are show, replay and fragment";
    } else if (replay != (options->events != NULL)) {
        value = options->events, rule = replay ? "a file of events follows" : "no other argument follows";
    } else if (starts != 1) {
        rule = "give one of --memory, --map and --snapshot";
    } else if (options->snapshot && options->has_config) {
        asked = "--snapshot", value = options->snapshot, rule = "the snapshot contains the machine; leave its options out";
    } else if (options->decisions && !replay) {
        asked = "--decisions", rule = "only replay has this option";
    } else if (options->has_goal != fragment || (fragment && options->goal.target < 0)) {
        rule = "fragment needs --target; other commands have no such options";
    } else if (fragment && !options->write_snapshot) {
        rule = "give --write-snapshot, too";
    }
    return !rule || command_line_refuse(error, program, asked, value, rule);
}

bool options_parse(struct options *options, int count, char **arguments, struct error *error) {
    static const char *const on_off[] = {"on", "off", NULL}, *const zones[] = {"DMA", "DMA32", "Normal", NULL},
                             *const indices[] = {"extfrag", "unusable", NULL};
    static const enum phys_thp settings[] = {PHYS_THP_ON, PHYS_THP_OFF, PHYS_THP_DEFAULT};
    struct phys_config *config = &options->config;
    struct fragmenter_goal *goal = &options->goal;
    bool *machine = &options->has_config, *fragments = &options->has_goal;
    uint32_t thp = 2;
    const struct option table[] = {
        {"--memory", .bytes = &options->memory_bytes, .least = 1, .most = OPTIONS_MOST_MEMORY},
        {"--map", .text = &options->map},
        {"--snapshot", .text = &options->snapshot},
        {"--cpus", .number = &config->cpus, .least = 1, .most = PHYS_MAX_CPUS, .given = machine},
        {"--thp", .word = &thp, .words = on_off, .given = machine},
        {"--min-free-kbytes", .number = (uint32_t *)&config->user_min_free_kbytes, .most = INT32_MAX, .given = machine},
        {"--boost-factor", .number = &config->watermark_boost_factor, .most = 1000000, .given = machine},
        {"--cache-slice", .wide = &config->cache_slice_bytes, .most = UINT64_C(1) << 40, .given = machine},
        {"--write-snapshot", .text = &options->write_snapshot},
        {"--decisions", .flag = &options->decisions},
        {"--zone", .word = (uint32_t *)&goal->zone, .words = zones, .given = fragments},
        {"--index", .word = (uint32_t *)&goal->index, .words = indices, .given = fragments},
        {"--order", .number = &goal->order, .most = PHYS_MAX_ORDER, .given = fragments},
        {"--target", .number = (uint32_t *)&goal->target, .most = 1000, .given = fragments},
        {"--tolerance", .number = (uint32_t *)&goal->tolerance, .most = 2000, .given = fragments},
        {"--movable-share", .number = (uint32_t *)&goal->movable_share, .most = 1000, .given = fragments},
        {"--seed", .wide = &goal->seed, .most = INT64_MAX, .given = fragments},
        {.name = NULL}};
    const struct command_line line = {program, table, {&options->command, &options->events}, &options->help};
    *options = (struct options){.config = phys_config_default()};
    *goal =
        (struct fragmenter_goal){.zone = PHYS_NORMAL, .index = FRAGMENTER_UNUSABLE, .order = 9, .target = -1, .tolerance = 5, .seed = 1};
    if (!command_line_parse(&line, count, arguments, error)) return false;
    config->thp = settings[thp];
    return options->help || complete(options, error);
}
