#define _GNU_SOURCE
#include "CLinux.h"

#include <sys/mman.h>

int clinux_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }
