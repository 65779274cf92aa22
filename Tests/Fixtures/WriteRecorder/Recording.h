// The log of WriteRecorder.c, and what belongs in it.

#pragma once
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
  CREATE = 1, WRITE, TRUNCATE, SYNC_BEGIN, SYNC_END, RENAME, LINK, UNLINK, MAKE_FOLDER, REMOVE_FOLDER,
  BASE, SAY, HEAR, CLOSE, MODE
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -1;
static char root[PATH_MAX];
static size_t root_length;
static uint64_t waits;

__attribute__((constructor)) static void begin(void) {
  const char *log = getenv("WRITE_RECORDER_LOG"), *below = getenv("WRITE_RECORDER_ROOT");
  if (!log || !below || !realpath(below, root)) return;
  root_length = strlen(root);
  log_file = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log_file < 0) abort();
  // Out of the way of descriptors that must be low.
  int high = (int)syscall(SYS_fcntl, log_file, F_DUPFD_CLOEXEC, 900);
  if (high >= 0) {
    syscall(SYS_close, log_file);
    log_file = high;
  }
}

static void record(
  uint64_t operation, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
  const void *first, size_t first_length, const void *second, size_t second_length
) {
  if (log_file < 0) return;
  uint64_t head[9] = {
    0x44524F4345524854, sizeof head + first_length + second_length, operation, a, b, c, d,
    first_length, second_length,
  };
  struct iovec parts[3] = {
    {head, sizeof head}, {(void *)first, first_length}, {(void *)second, second_length},
  };
  if (syscall(SYS_writev, log_file, parts, 3) != (long)head[1]) abort();
}

// The absolute path behind a descriptor and a name; 0 where it is not below the root or not recorded.
static int resolve(int folder, const char *name, char *path) {
  if (log_file < 0 || !name) return 0;
  char whole[PATH_MAX * 2];
  if (name[0] == '/') {
    snprintf(whole, sizeof whole, "%s", name);
  } else {
    char link[64], base[PATH_MAX];
    if (folder == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, base, sizeof base - 1);
    if (length < 0) return 0;
    base[length] = 0;
    snprintf(whole, sizeof whole, "%s/%s", base, name);
  }
  size_t length = strlen(whole);
  while (length > 1 && whole[length - 1] == '/') whole[--length] = 0;
  if (strncmp(whole, root, root_length) || (whole[root_length] && whole[root_length] != '/')) return 0;
  if (length >= 4 && !strcmp(whole + length - 4, "-shm")) return 0;
  if (length >= PATH_MAX) abort();
  memcpy(path, whole, length + 1);
  return 1;
}

static int status_at(int folder, const char *name, struct stat *status, int flags) {
  return (int)syscall(SYS_newfstatat, folder, name, status, flags);
}

// The inode number of the folder that holds a path, and its last part.
static uint64_t parent(const char *path, const char **name) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  *name = slash + 1;
  size_t length = (size_t)(slash - path);
  memcpy(folder, path, length);
  folder[length] = 0;
  struct stat status;
  return status_at(AT_FDCWD, length ? folder : "/", &status, 0) ? 0 : status.st_ino;
}

// The inode of an open file that is recorded; 0 for others.
static uint64_t recorded(int file, struct stat *status) {
  if (log_file < 0 || file == log_file || status_at(file, "", status, AT_EMPTY_PATH)) return 0;
  if (!S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode)) return 0;
  char link[64], path[PATH_MAX], clean[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return resolve(AT_FDCWD, path, clean) ? status->st_ino : 0;
}

static int is_socket(int file) {
  struct stat status;
  return log_file >= 0 && file != log_file && !status_at(file, "", &status, AT_EMPTY_PATH)
    && S_ISSOCK(status.st_mode);
}

// What a file holds that somebody else has written.
static void record_base(const char *path) {
  struct stat status;
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  if (file < 0) return;
  if (!status_at(file, "", &status, AT_EMPTY_PATH) && S_ISREG(status.st_mode)) {
    char *bytes = malloc((size_t)status.st_size + 1);
    ssize_t count = syscall(SYS_pread64, file, bytes, (size_t)status.st_size, 0L);
    record(BASE, status.st_ino, status.st_mode & 07777, 0, 0, bytes, count < 0 ? 0 : (size_t)count, 0, 0);
    free(bytes);
  }
  syscall(SYS_close, file);
}
