// Shifts the wall clock of a process by the seconds that the file named in SHIFTED_CLOCK holds, read
// again at every call; for LD_PRELOAD. No other clock and no timer is touched, as clock_settime(2) has it.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t shift(void) {
  int before = errno;
  char text[32] = "";
  const char *path = getenv("SHIFTED_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  // No file: no shift. The test sees that the clock did not move.
  if (file >= 0) {
    if (read(file, text, sizeof text - 1) < 0) abort();
    close(file);
  }
  errno = before;
  return atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *moment) {
  int failed = (int)syscall(SYS_clock_gettime, clock, moment);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) moment->tv_sec += shift();
  return failed;
}

int gettimeofday(struct timeval *restrict moment, void *restrict zone) {
  int failed = (int)syscall(SYS_gettimeofday, moment, zone);
  if (!failed) moment->tv_sec += shift();
  return failed;
}

time_t time(time_t *kept) {
  struct timespec moment;
  if (clock_gettime(CLOCK_REALTIME, &moment)) return -1;
  if (kept) *kept = moment.tv_sec;
  return moment.tv_sec;
}
