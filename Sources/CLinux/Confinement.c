#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>

int clinux_confine_thread(unsigned mask) {
  // A file creation mask of the thread's own. A seccomp filter round the whole program may refuse it:
  // then the mask stays the program's, which must not be changed for all its threads.
  if (unshare(CLONE_FS) == 0) {
    umask(mask);
  } else if (errno != EPERM && errno != ENOSYS) {
    return -1;
  }
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}
