#pragma once

/* getopt_long(3) keeps its state in variables of the process and is not seen by Swift; this is the one
   place that touches it. */

struct coptions_option {
  const char *name;
  int takes_value;
};

/* What stands at one place of a command line. */
struct coptions_found {
  /* Index into the options, or -1 for an operand. */
  int index;
  /* The value or the operand; NULL for a switch. */
  const char *text;
};

/* Parses argv[1..argc), which it reorders, and fills `found`, which has room for argc entries.
   Returns the number of entries, or -1 - PLACE for a word at argv[PLACE] that is no option or lacks its
   value; `*lacks_value` tells which. `-h` stands for the option `help`, which must be there. */
int coptions_parse(int argc, char **argv, const struct coptions_option *options, int count,
                   struct coptions_found *found, int *lacks_value);
