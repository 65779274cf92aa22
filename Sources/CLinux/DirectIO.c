#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>

int clinux_set_direct(int descriptor, int is_direct) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags == -1) return -1;
  return fcntl(descriptor, F_SETFL, is_direct ? flags | O_DIRECT : flags & ~O_DIRECT);
}

int clinux_allocate(int descriptor, int64_t size) {
  return fallocate(descriptor, 0, 0, size);
}
