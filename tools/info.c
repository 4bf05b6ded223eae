/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `cplayout info`: what the loaded plugin is, offers and understands. The options come from the plugin,
 * one visit each.
 */
#include "verbs.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <cplayout/batch.h>

#include "terminal.h"

/* Interfaces that this command has heard of. */
static const char *const interfaces[] = {CPLAYOUT_PLAN_INTERFACE, CPLAYOUT_BATCH_INTERFACE};

enum { INTERFACES = sizeof(interfaces) / sizeof(interfaces[0]) };

/* Every plugin has both: local groups are slots of the core table, and the host record takes the
 * functions of a communicator. */
static const char *const transports[] = {"local", "host"};

/* The file that the plugin's table lies in. */
static const char *plugin_path(const struct host *host)
{
    Dl_info found;

    return dladdr(host->core, &found) != 0 && found.dli_fname != NULL ? found.dli_fname : "";
}

static bool offers(const struct host *host, const char *interface)
{
    return host->core->get_interface(interface) != NULL;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void append_option(void *self, const struct cplayout_option_info *info)
{
    json_t **const options = self;

    if (*options != NULL &&
        json_array_append_new(*options,
                              json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "name", info->name, "type",
                                        info->type, "default", info->default_value, "values",
                                        info->values, "help", info->help, "synonyms",
                                        info->synonyms, "deprecated", info->deprecated)) != 0) {
        json_decref(*options);
        *options = NULL;
    }
}

static json_t *interfaces_json(const struct host *host)
{
    json_t *const array = json_array();

    for (int i = 0; i < INTERFACES; i++) {
        if (offers(host, interfaces[i]) &&
            json_array_append_new(array, json_string(interfaces[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static bool print_json(const struct host *host, struct report *report)
{
    const struct cplayout_core *const core = host->core;
    json_t *options = json_array();

    core->options(append_option, &options);
    return report_json(report,
                       json_pack("{s:s,s:s,s:{s:I,s:I,s:I},s:s,s:o,s:[ss],s:o,s:o}", "name",
                                 core->name, "version", core->version, "abi", "major",
                                 (json_int_t)core->abi_major, "minor", (json_int_t)core->abi_minor,
                                 "draft", (json_int_t)core->draft, "build", core->build, "plugin",
                                 report_string(plugin_path(host)), "transports", transports[0],
                                 transports[1], "interfaces", interfaces_json(host), "options",
                                 options));
}

/* ---- Text ------------------------------------------------------------------------------------ */

enum { INDENT = 6 };

/* Legal values are only broken behind a comma: "1 ... 65536" stays together. */
static void keep_together(char *values)
{
    for (; *values != '\0'; values++) {
        if (*values == ' ' && values[-1] != ',') {
            *values = '\t';
        }
    }
}

/* "seq_length = 0  (also seq)", and below what it means and may be. */
static void print_option(void *self, const struct cplayout_option_info *info)
{
    const struct terminal *const terminal = self;
    char text[1024];
    int length = snprintf(text, sizeof(text), "%s", info->help);

    if (info->values[0] != '\0' && length >= 0 && (size_t)length < sizeof(text)) {
        (void)snprintf(text + length, sizeof(text) - (size_t)length, " [%s]", info->values);
        keep_together(text + length + 1);
    }
    (void)printf("  %s%s%s", info->name, info->default_value[0] != '\0' ? " = " : "",
                 info->default_value);
    if (info->synonyms[0] != '\0') {
        (void)printf("  (also %s)", info->synonyms);
    }
    (void)printf("\n%*s", INDENT, "");
    terminal_wrap(terminal, INDENT, text);
}

static void print_options(const struct host *host, struct terminal *terminal)
{
    (void)puts("\noptions, with their defaults and legal values");
    host->core->options(print_option, terminal);
}

static void print_facts(const struct host *host, const struct terminal *terminal)
{
    const struct cplayout_core *const core = host->core;

    (void)printf("%s %s\n", core->name, core->version);
    (void)printf("ABI         %" PRIu32 ".%" PRIu32 " draft %" PRIu32 "\n", core->abi_major,
                 core->abi_minor, core->draft);
    (void)fputs("build       ", stdout);
    terminal_wrap(terminal, (int)strlen("build       "), core->build);
    (void)printf("plugin      %s\n", plugin_path(host));
    (void)printf("transports  %s %s\n", transports[0], transports[1]);
    (void)fputs("interfaces ", stdout);
    for (int i = 0; i < INTERFACES; i++) {
        if (offers(host, interfaces[i])) {
            (void)printf(" %s", interfaces[i]);
        }
    }
    (void)putchar('\n');
}

bool verb_info(struct host *host, struct args *args, struct report *report)
{
    struct terminal terminal;

    if (args->number[OPTION_JSON] != 0) {
        return print_json(host, report);
    }
    terminal = terminal_detect();
    print_facts(host, &terminal);
    print_options(host, &terminal);
    return true;
}
