// Counts what one program does to files, sockets, pipes and children, and stops it at one of these points:
// for LD_PRELOAD, so that SQLite's own calls count as the program's do. See CrashMatrix.swift.
//
//   SEAM_PROGRAM  the program it is for (its comm); every other one is left alone
//   SEAM_PLAN     N:kill, or N:ERRNO:LENGTH:KIND,KIND… (from the N-th point of these kinds on, LENGTH calls fail)
//   SEAM_ARM      nothing is counted before this file is there
//   SEAM_CALM     once this file is there, nothing fails any more
//   SEAM_LOG      one line "N kind phase call" for each point; a line "hit …" ends the plan for good

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int active, armed, is_kill, fault;
static long target, length;
static char kinds[128];
static const char *arm, *calm, *log_path;
static atomic_long passed;

#define NEXT(name) \
  static __typeof__(&name) next; \
  if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static void note(const char *word, long number, const char *kind, const char *phase, const char *call) {
  char line[256];
  int count = snprintf(line, sizeof line, "%s%ld %s %s %s\n", word, number, kind, phase, call);
  int file = (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0 || syscall(SYS_write, file, line, count) != count) abort();
  syscall(SYS_close, file);
}

__attribute__((constructor)) static void begin(void) {
  const char *plan = getenv("SEAM_PLAN"), *program = getenv("SEAM_PROGRAM");
  char action[16] = "";
  arm = getenv("SEAM_ARM");
  calm = getenv("SEAM_CALM");
  log_path = getenv("SEAM_LOG");
  if (!plan || !program || !arm || !calm || !log_path) return;
  if (strncmp(program_invocation_short_name, program, 15)) return;
  if (sscanf(plan, "%ld:%15[^:]:%ld:%127s", &target, action, &length, kinds) < 2) abort();
  is_kill = !strcmp(action, "kill");
  fault = atoi(action);
  // A program that was stopped here once runs on freely when it is started again.
  FILE *log = fopen(log_path, "re");
  char line[256];
  while (log && fgets(line, sizeof line, log))
    if (!strncmp(line, "hit", 3)) return;
  if (log) fclose(log);
  active = 1;
}

static int is_counted(void) {
  if (!active) return 0;
  if (!armed) armed = !syscall(SYS_access, arm, F_OK);
  return armed;
}

static int is_planned(const char *kind) {
  char list[160], word[40];
  snprintf(list, sizeof list, ",%s,", kinds);
  snprintf(word, sizeof word, ",%s,", kind);
  return strstr(list, word) != NULL;
}

// One point. Returns 1 where the call is to fail with errno as set.
static int point(const char *kind, const char *phase, const char *call) {
  if (!kind || !is_counted()) return 0;
  if (!is_kill && (*phase != 'b' || !is_planned(kind))) return 0;
  // A death after one of many writes is one before the next.
  int is_write = !strcmp(kind, "ledger") || !strcmp(kind, "write") || !strcmp(kind, "create");
  if (is_kill && is_write && *phase != 'b') return 0;
  int before = errno;
  long number = atomic_fetch_add(&passed, 1) + 1;
  if (is_kill) {
    note(number == target ? "hit " : "", number, kind, phase, call);
    if (number == target) {
      syscall(SYS_kill, getpid(), SIGKILL);
      for (;;) pause();
    }
  } else if (number >= target && number < target + length && syscall(SYS_access, calm, F_OK)) {
    note(number == target ? "hit " : "failed ", number, kind, phase, call);
    errno = fault;
    return 1;
  } else {
    note("", number, kind, phase, call);
  }
  errno = before;
  return 0;
}

// MARK: What a descriptor is

static const char *name_of(int file, char *path, size_t size) {
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t count = syscall(SYS_readlink, link, path, size - 1);
  path[count < 0 ? 0 : count] = 0;
  return path;
}

static int is_ledger(int file) {
  char path[4096];
  return strstr(name_of(file, path, sizeof path), "/ledger.db") != NULL;
}

static int is_wal(int file) {
  char path[4096];
  return strstr(name_of(file, path, sizeof path), "/ledger.db-wal") != NULL;
}

// The kind of a transfer over a descriptor; NULL for what is no message and no file that lasts.
// The control socket is left out: on it come the test's own questions.
static const char *transfer(int file, int writes) {
  if (file <= 2 || !active) return NULL;
  int before = errno;
  struct stat status;
  const char *kind = NULL;
  if (!fstat(file, &status)) {
    if (S_ISFIFO(status.st_mode)) kind = "message";
    if (S_ISREG(status.st_mode) && writes) kind = is_ledger(file) ? "ledger" : "write";
    if (S_ISSOCK(status.st_mode)) {
      struct sockaddr_un name = {0};
      socklen_t size = sizeof name;
      kind = "message";
      if (!getsockname(file, (struct sockaddr *)&name, &size) && name.sun_family == AF_UNIX && name.sun_path[0])
        kind = NULL;
    }
  }
  errno = before;
  return kind;
}

// MARK: The calls

// A call that is a point before and after itself.
#define POINTS(kind, call, result_type, failure, expression) \
  const char *kind_ = is_counted() ? (kind) : NULL; \
  if (point(kind_, "before", call)) return failure; \
  result_type result_ = (expression); \
  point(kind_, "after", call); \
  return result_

// What was received is a point when it is there; before it nothing has happened.
#define RECEIVED(call, file, expression) \
  ssize_t result_ = (expression); \
  if (result_ >= 0 && is_counted()) point(transfer(file, 0), "after", call); \
  return result_

int fsync(int file) {
  NEXT(fsync);
  POINTS(is_ledger(file) ? (is_wal(file) ? "commit" : "ledger") : "fsync", "fsync", int, -1, next(file));
}
int fdatasync(int file) {
  NEXT(fdatasync);
  POINTS(is_ledger(file) ? (is_wal(file) ? "commit" : "ledger") : "fsync", "fdatasync", int, -1, next(file));
}
int rename(const char *from, const char *to) {
  NEXT(rename);
  POINTS("rename", "rename", int, -1, next(from, to));
}
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  NEXT(renameat2);
  POINTS("rename", "renameat2", int, -1, next(from_folder, from, to_folder, to, flags));
}
int link(const char *from, const char *to) {
  NEXT(link);
  POINTS("link", "link", int, -1, next(from, to));
}
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  NEXT(linkat);
  POINTS("link", "linkat", int, -1, next(from_folder, from, to_folder, to, flags));
}
int unlink(const char *path) {
  NEXT(unlink);
  POINTS("unlink", "unlink", int, -1, next(path));
}
int unlinkat(int folder, const char *path, int flags) {
  NEXT(unlinkat);
  POINTS("unlink", "unlinkat", int, -1, next(folder, path, flags));
}
int mkdir(const char *path, mode_t mode) {
  NEXT(mkdir);
  POINTS("create", "mkdir", int, -1, next(path, mode));
}
int mkdirat(int folder, const char *path, mode_t mode) {
  NEXT(mkdirat);
  POINTS("create", "mkdirat", int, -1, next(folder, path, mode));
}
int ftruncate(int file, off_t size) {
  NEXT(ftruncate);
  POINTS(transfer(file, 1), "ftruncate", int, -1, next(file, size));
}
int ftruncate64(int file, off64_t size) {
  NEXT(ftruncate64);
  POINTS(transfer(file, 1), "ftruncate", int, -1, next(file, size));
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
  NEXT(pwrite);
  POINTS(transfer(file, 1), "pwrite", ssize_t, -1, next(file, bytes, count, offset));
}
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  NEXT(pwrite64);
  POINTS(transfer(file, 1), "pwrite", ssize_t, -1, next(file, bytes, count, offset));
}
ssize_t write(int file, const void *bytes, size_t count) {
  NEXT(write);
  POINTS(transfer(file, 1), "write", ssize_t, -1, next(file, bytes, count));
}
ssize_t sendfile(int to, int from, off_t *offset, size_t count) {
  NEXT(sendfile);
  POINTS(transfer(to, 1), "sendfile", ssize_t, -1, next(to, from, offset, count));
}
ssize_t send(int file, const void *bytes, size_t count, int flags) {
  NEXT(send);
  POINTS(transfer(file, 1), "send", ssize_t, -1, next(file, bytes, count, flags));
}
ssize_t sendmsg(int file, const struct msghdr *message, int flags) {
  NEXT(sendmsg);
  POINTS(transfer(file, 1), "sendmsg", ssize_t, -1, next(file, message, flags));
}
ssize_t read(int file, void *bytes, size_t count) {
  NEXT(read);
  RECEIVED("read", file, next(file, bytes, count));
}
ssize_t recv(int file, void *bytes, size_t count, int flags) {
  NEXT(recv);
  RECEIVED("recv", file, next(file, bytes, count, flags));
}
ssize_t recvmsg(int file, struct msghdr *message, int flags) {
  NEXT(recvmsg);
  RECEIVED("recvmsg", file, next(file, message, flags));
}
int ioctl(int file, unsigned long request, ...) {
  NEXT(ioctl);
  va_list rest;
  va_start(rest, request);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  // FICLONE
  POINTS(request == 0x40049409 ? "write" : NULL, "ficlone", int, -1, next(file, request, argument));
}

// A new name counts; openat2(2) goes past glibc and does not.
static int open_(int (*next)(int, const char *, int, ...), int folder, const char *path, int flags, mode_t mode) {
  const char *kind = flags & O_CREAT && is_counted() ? "create" : NULL;
  if (kind && strstr(path, "/ledger.db")) kind = "ledger";
  POINTS(kind, "open", int, -1, next(folder, path, flags, mode));
}
#define OPENING(flags) \
  mode_t mode = 0; \
  if (flags & (O_CREAT | O_TMPFILE)) { \
    va_list rest; \
    va_start(rest, flags); \
    mode = va_arg(rest, mode_t); \
    va_end(rest); \
  }
typedef int (*opener)(int, const char *, int, ...);
static opener real_openat(void) {
  static opener next;
  if (!next) next = (opener)dlsym(RTLD_NEXT, "openat");
  return next;
}
int open(const char *path, int flags, ...) {
  OPENING(flags);
  return open_(real_openat(), AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  OPENING(flags);
  return open_(real_openat(), AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
  OPENING(flags);
  return open_(real_openat(), folder, path, flags, mode);
}

// A refused lock is how SQLITE_BUSY comes about.
int fcntl64(int file, int command, ...) {
  static int (*next)(int, int, ...);
  if (!next) next = (int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl64");
  va_list rest;
  va_start(rest, command);
  void *argument = va_arg(rest, void *);
  va_end(rest);
  int locks = command == F_SETLK && ((struct flock *)argument)->l_type != F_UNLCK;
  if (!is_kill && locks && is_counted() && is_ledger(file) && point("lock", "before", "fcntl")) return -1;
  return next(file, command, argument);
}

// MARK: Children: what they were given, and that they ended

int posix_spawn(
  pid_t *child, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
  char *const arguments[], char *const environment[]) {
  NEXT(posix_spawn);
  const char *kind = is_counted() && is_kill ? "spawn" : NULL;
  point(kind, "before", "posix_spawn");
  int result = next(child, path, actions, attributes, arguments, environment);
  point(kind, "after", "posix_spawn");
  return result;
}
int waitid(idtype_t type, id_t id, siginfo_t *info, int options) {
  NEXT(waitid);
  int result = next(type, id, info, options);
  if (!result && is_counted() && is_kill && info && info->si_pid) point("spawn", "after", "waitid");
  return result;
}
pid_t waitpid(pid_t child, int *status, int options) {
  NEXT(waitpid);
  pid_t result = next(child, status, options);
  if (result > 0 && is_counted() && is_kill) point("spawn", "after", "waitpid");
  return result;
}
