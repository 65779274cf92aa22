#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

// Threads

int clinux_thread(const char *name, void *(*body)(void *), void *context) {
  sigset_t all, before;
  sigfillset(&all);
  int error = pthread_sigmask(SIG_SETMASK, &all, &before);
  if (error) return error;
  pthread_t thread;
  error = pthread_create(&thread, NULL, body, context);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error) return error;
  char shortened[16];
  snprintf(shortened, sizeof shortened, "%s", name);
  pthread_setname_np(thread, shortened);
  pthread_detach(thread);
  return 0;
}

int clinux_thread_id(void) { return gettid(); }

// Processes

static int add_descriptors(
  posix_spawn_file_actions_t *actions, const struct clinux_mapping *mappings, size_t count) {
  int highest = 2, above = 2, error = 0;
  for (size_t index = 0; index < count; index++) {
    if (mappings[index].child > highest) highest = mappings[index].child;
    if (mappings[index].parent > above) above = mappings[index].parent;
  }
  if (highest > above) above = highest;
  // By way of numbers that are neither source nor target, so that no copy overwrites a source.
  for (size_t index = 0; index < count && !error; index++) {
    error = posix_spawn_file_actions_adddup2(
      actions, mappings[index].parent, above + 1 + (int)index);
  }
  for (int number = 0; number <= highest && !error; number++) {
    int source = -1;
    for (size_t index = 0; index < count; index++) {
      if (mappings[index].child == number) source = above + 1 + (int)index;
    }
    if (source >= 0) {
      error = posix_spawn_file_actions_adddup2(actions, source, number);
    } else if (number <= 2) {
      error = posix_spawn_file_actions_addopen(actions, number, "/dev/null", O_RDWR, 0);
    } else {
      error = posix_spawn_file_actions_addclose(actions, number);
    }
  }
  if (!error) error = posix_spawn_file_actions_addclosefrom_np(actions, highest + 1);
  return error;
}

static int set_attributes(posix_spawnattr_t *attributes, int new_session) {
  sigset_t signals;
  sigfillset(&signals);
  int error = posix_spawnattr_setsigdefault(attributes, &signals);
  sigemptyset(&signals);
  if (!error) error = posix_spawnattr_setsigmask(attributes, &signals);
  if (!error) error = posix_spawnattr_setpgroup(attributes, 0);
  short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
  flags |= new_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
  if (!error) error = posix_spawnattr_setflags(attributes, flags);
  return error;
}

int clinux_spawn(
  int *pid, const char *path, char *const arguments[], char *const environment[],
  const struct clinux_mapping *mappings, size_t count, const char *directory, int new_session) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  error = posix_spawnattr_init(&attributes);
  if (error) {
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }
  error = set_attributes(&attributes, new_session);
  if (!error && directory) error = posix_spawn_file_actions_addchdir_np(&actions, directory);
  if (!error) error = add_descriptors(&actions, mappings, count);
  if (!error) error = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

int clinux_pidfd_open(int pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int clinux_pidfd_signal(int pidfd, int signal) {
  return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

int clinux_collect(int pidfd, int *code, int *signal) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  if (waitid((idtype_t)P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG) == -1) return -1;
  if (info.si_pid == 0) return 0;
  *code = info.si_code == CLD_EXITED ? info.si_status : 0;
  *signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
  return 1;
}

int clinux_limit(int pid, enum clinux_resource resource, uint64_t value) {
  int number = RLIMIT_CORE;
  switch (resource) {
    case CLINUX_CPU_SECONDS: number = RLIMIT_CPU; break;
    case CLINUX_FILE_SIZE: number = RLIMIT_FSIZE; break;
    case CLINUX_CORE_SIZE: number = RLIMIT_CORE; break;
    case CLINUX_ADDRESS_SPACE: number = RLIMIT_AS; break;
    case CLINUX_OPEN_FILES: number = RLIMIT_NOFILE; break;
    case CLINUX_PROCESSES: number = RLIMIT_NPROC; break;
  }
  // A hard limit that is lower already stays: only root could raise it.
  struct rlimit limit;
  if (prlimit(pid, number, NULL, &limit) != 0) return -1;
  if (value < limit.rlim_max) limit.rlim_max = value;
  limit.rlim_cur = limit.rlim_max;
  return prlimit(pid, number, &limit, NULL);
}

// Files

int clinux_rename_no_replace(int from_directory, const char *from, int to_directory, const char *to) {
  return renameat2(from_directory, from, to_directory, to, RENAME_NOREPLACE);
}

int clinux_clone(int to, int from) { return ioctl(to, FICLONE, from); }

int64_t clinux_first_hole(int descriptor, int64_t from) {
  return lseek(descriptor, from, SEEK_HOLE);
}

int64_t clinux_next_data(int descriptor, int64_t from) {
  return lseek(descriptor, from, SEEK_DATA);
}

int clinux_open_folder_path(const char *path) {
  return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int clinux_open_beneath(int directory, const char *path, int flags, unsigned mode) {
  // openat2 refuses a mode where nothing is made. O_TMPFILE holds the bits of O_DIRECTORY.
  int makes = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
  struct open_how how = {
    .flags = (uint64_t)(unsigned)flags,
    .mode = makes ? mode : 0,
    .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
  };
  return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int clinux_mount_number(const char *path, uint64_t *number) {
  struct statx status;
  if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &status) == -1) return -1;
  // A kernel before 5.8 does not tell: the device does not know bind mounts apart, but all others.
  *number = status.stx_mask & STATX_MNT_ID
    ? status.stx_mnt_id : makedev(status.stx_dev_major, status.stx_dev_minor);
  return 0;
}

int clinux_file_system_magic(int descriptor, int64_t *magic) {
  struct statfs status;
  if (fstatfs(descriptor, &status) == -1) return -1;
  // f_type is signed and wider than the 32 bits of the magic numbers (0xFF534D42).
  *magic = (int64_t)(uint32_t)status.f_type;
  return 0;
}

// Leases

int clinux_lease(int descriptor, int signal, int thread) {
  // A released or broken lease resets both, so they are set before every lease.
  struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = thread};
  if (fcntl(descriptor, F_SETSIG, signal) == -1) return -1;
  if (fcntl(descriptor, F_SETOWN_EX, &owner) == -1) return -1;
  return fcntl(descriptor, F_SETLEASE, F_RDLCK);
}

int clinux_lease_release(int descriptor) { return fcntl(descriptor, F_SETLEASE, F_UNLCK); }

int clinux_lease_is_held(int descriptor) { return fcntl(descriptor, F_GETLEASE) == F_RDLCK; }

// Signals

int clinux_lease_signal(void) { return SIGRTMIN + 5; }

static sigset_t set_of(const int *signals, size_t count) {
  sigset_t set;
  sigemptyset(&set);
  for (size_t index = 0; index < count; index++) sigaddset(&set, signals[index]);
  return set;
}

int clinux_ignore_signal(int number) { return signal(number, SIG_IGN) == SIG_ERR ? -1 : 0; }

static volatile sig_atomic_t signal_route = -1;

static void route_signal(int number) {
  int before = errno;
  unsigned char byte = (unsigned char)number;
  int route = signal_route;
  // A full pipe holds thousands of signals that nobody has read yet: one more says nothing new.
  if (route >= 0 && write(route, &byte, 1) == -1) errno = before;
  errno = before;
}

static int set_action(const int *signals, size_t count, void (*handler)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  for (size_t index = 0; index < count; index++) {
    if (sigaction(signals[index], &action, NULL) == -1) return -1;
  }
  return 0;
}

int clinux_route_signals(const int *signals, size_t count, int descriptor) {
  signal_route = descriptor;
  if (set_action(signals, count, route_signal) == -1) return -1;
  // In case that the caller has inherited a mask that blocks them.
  sigset_t set = set_of(signals, count);
  return pthread_sigmask(SIG_UNBLOCK, &set, NULL) ? -1 : 0;
}

int clinux_restore_signals(const int *signals, size_t count) {
  int outcome = set_action(signals, count, SIG_DFL);
  signal_route = -1;
  return outcome;
}

int clinux_signalfd(const int *signals, size_t count) {
  sigset_t set = set_of(signals, count);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int clinux_read_signal(int signalfd, int *descriptor) {
  struct signalfd_siginfo info;
  ssize_t count = read(signalfd, &info, sizeof info);
  if (count == -1) return errno == EAGAIN ? 0 : -1;
  *descriptor = info.ssi_signo >= (uint32_t)SIGRTMIN ? info.ssi_fd : -1;
  return (int)info.ssi_signo;
}

int clinux_set_nonblocking(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags == -1) return -1;
  return fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

int clinux_pipe(int pair[2]) { return pipe2(pair, O_CLOEXEC); }

int clinux_unread(int descriptor, int *count) { return ioctl(descriptor, FIONREAD, count); }

int clinux_is_open(int descriptor) { return fcntl(descriptor, F_GETFD) != -1; }

void clinux_keep_memory(void) {
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_TOP_PAD, 1 << 20);
}
