#include "COptions.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

int coptions_parse(int argc, char **argv, const struct coptions_option *options, int count,
                   struct coptions_found *found, int *lacks_value) {
  struct option *table = calloc((size_t)count + 1, sizeof *table);
  if (table == NULL) return -1;
  int help = -1;
  for (int index = 0; index < count; index++) {
    table[index].name = options[index].name;
    table[index].has_arg = options[index].takes_value ? required_argument : no_argument;
    table[index].val = 256 + index;
    if (strcmp(options[index].name, "help") == 0) help = index;
  }
  int filled = 0;
  int place = 0;
  /* 0 makes glibc forget an earlier command line. */
  optind = 0;
  opterr = 0;
  for (;;) {
    int value = getopt_long(argc, argv, ":h", table, NULL);
    if (value == -1) break;
    if (value == 'h') value = 256 + help;
    if (value < 256) {
      *lacks_value = value == ':';
      place = optind - 1;
      break;
    }
    found[filled].index = value - 256;
    found[filled].text = table[value - 256].has_arg ? optarg : NULL;
    filled++;
  }
  free(table);
  if (place > 0) return -1 - place;
  for (int index = optind; index < argc; index++) {
    found[filled].index = -1;
    found[filled].text = argv[index];
    filled++;
  }
  return filled;
}
