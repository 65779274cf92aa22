#define _GNU_SOURCE
#include "CLinux.h"

#include <fcntl.h>

int clinux_open_place(const char *path) {
  return open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}
