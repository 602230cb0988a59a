#include "cli/command_line.h"

#include <inttypes.h>
#include <string.h>

#include "base/lines.h"

bool command_line_refuse(struct error *error, const char *program, const char *option, const char *value, const char *rule) {
    error_asked(error, "%s%s%s", option, value ? " " : "", value ? value : "");
    error_found(error, "%s", rule);
    return error_remedy(error, "run: %s --help", program);
}

static bool take_word(const struct option *option, const char *value) {
    uint32_t place = 0;
    while (option->words[place] && strcmp(option->words[place], value) != 0) ++place;
    if (option->text) *option->text = value;
    else if (option->word) *option->word = place;
    else *option->second = place == 1;
    return option->words[place];
}

static bool take_number(const struct option *option, const char *value) {
    struct line line = {.count = 1, .field = {value}, .length = {(uint32_t)strlen(value)}};
    uint64_t number = 0;
    unsigned shift = 0;
    if (option->bytes) {
        if (line.length[0] < 3) return false;
        line.length[0] -= 2;
        const char *unit = value + line.length[0];
        shift = strcmp(unit, "MB") == 0 ? 20 : strcmp(unit, "GB") == 0 ? 30 : 0;
        if (shift == 0) return false;
    }
    if (!field_number(&line, 0, option->least, option->most >> shift, &number)) return false;
    if (option->bytes) *option->bytes = number << shift;
    else if (option->wide) *option->wide = number;
    else *option->number = (uint32_t)number;
    return true;
}

static bool take(const struct option *option, const char *value) {
    if (option->given) *option->given = true;
    if (option->words) return take_word(option, value);
    return option->text ? (*option->text = value) != NULL : take_number(option, value);
}

static bool refuse_value(struct error *error, const char *program, const struct option *option, const char *value) {
    char rule[sizeof error->found] = "it is one of";
    if (option->bytes) snprintf(rule, sizeof rule, "it is a size in MB or GB, for example 4GB");
    else if (!option->words) snprintf(rule, sizeof rule, "it is a whole number from %" PRIu64 " to %" PRIu64, option->least, option->most);
    for (size_t i = 0; option->words && option->words[i]; ++i)
        snprintf(rule + strlen(rule), sizeof rule - strlen(rule), "%s %s", i > 0 ? "," : "", option->words[i]);
    return command_line_refuse(error, program, option->name, value, rule);
}

bool command_line_parse(const struct command_line *line, int count, char **arguments, struct error *error) {
    size_t words = 0;
    for (int i = 1; i < count; ++i) {
        const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : NULL;
        const struct option *option = line->options;
        if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) return *line->help = true;
        if (name[0] != '-') {
            if (words == 2 || !line->words[words])
                return command_line_refuse(error, line->program, name, NULL, "there are too many arguments");
            *line->words[words++] = name;
            continue;
        }
        while (option->name && strcmp(option->name, name) != 0) ++option;
        if (!option->name) return command_line_refuse(error, line->program, name, NULL, "there is no such option");
        if (option->flag) {
            *option->flag = true;
            continue;
        }
        if (!value) return command_line_refuse(error, line->program, name, NULL, "an option is followed by its value");
        if (!take(option, value)) return refuse_value(error, line->program, option, value);
        ++i;
    }
    return true;
}
