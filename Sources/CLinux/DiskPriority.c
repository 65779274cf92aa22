#define _GNU_SOURCE
#include "CLinux.h"

#include <linux/ioprio.h>
#include <sys/syscall.h>
#include <unistd.h>

int clinux_idle_disk_priority(int idle) {
  int class = idle ? IOPRIO_CLASS_IDLE : IOPRIO_CLASS_NONE;
  return (int)syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(class, 0));
}
