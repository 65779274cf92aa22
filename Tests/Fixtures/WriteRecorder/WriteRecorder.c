// Records, for LD_PRELOAD, every call by which a process changes what is below WRITE_RECORDER_ROOT, each
// wait for the disk, and what it says and hears over sockets, in one order, into WRITE_RECORDER_LOG.
//
// A record is nine 8-byte words (magic, total length, operation, four numbers, two lengths), then the
// bytes of those lengths. Files go by their inode numbers; a record of a new file begins a new
// file of that number. A wait for the disk is two records: only what was written before its begin is
// on the disk at its end.

#include "Recording.h"

// MARK: Opening

static int opened(int folder, const char *name, int flags, unsigned mode, void *how, size_t size) {
  char path[PATH_MAX];
  int changes = flags & (O_CREAT | O_TRUNC);
  int kept = changes && resolve(folder, name, path);
  struct stat status;
  if (kept) pthread_mutex_lock(&lock);
  int existed = kept && !status_at(folder, name, &status, 0);
  int file = (int)(how ? syscall(SYS_openat2, folder, name, how, size)
                       : syscall(SYS_openat, folder, name, flags, mode));
  int error = errno;
  if (kept) {
    if (file >= 0 && !status_at(file, "", &status, AT_EMPTY_PATH) && S_ISREG(status.st_mode)) {
      const char *last;
      uint64_t above = parent(path, &last);
      if (!existed) record(CREATE, above, status.st_ino, status.st_mode & 07777, 0, last, strlen(last), 0, 0);
      else if (flags & O_TRUNC) record(TRUNCATE, status.st_ino, 0, 0, 0, 0, 0, 0, 0);
    }
    pthread_mutex_unlock(&lock);
  }
  errno = error;
  return file;
}

#define MODE_ARGUMENT(flags, mode) \
  unsigned mode = 0; \
  if ((flags) & (O_CREAT | __O_TMPFILE)) { \
    va_list list; \
    va_start(list, flags); \
    mode = va_arg(list, unsigned); \
    va_end(list); \
  }

int open(const char *name, int flags, ...) {
  MODE_ARGUMENT(flags, mode)
  return opened(AT_FDCWD, name, flags, mode, 0, 0);
}

int open64(const char *name, int flags, ...) {
  MODE_ARGUMENT(flags, mode)
  return opened(AT_FDCWD, name, flags, mode, 0, 0);
}

int openat(int folder, const char *name, int flags, ...) {
  MODE_ARGUMENT(flags, mode)
  return opened(folder, name, flags, mode, 0, 0);
}

int openat64(int folder, const char *name, int flags, ...) {
  MODE_ARGUMENT(flags, mode)
  return opened(folder, name, flags, mode, 0, 0);
}

long syscall(long number, ...) {
  static long (*real)(long, ...);
  if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  long a[6];
  va_list list;
  va_start(list, number);
  for (int index = 0; index < 6; index++) a[index] = va_arg(list, long);
  va_end(list);
  static __thread int inside;
  if (number == SYS_openat2 && !inside) {
    struct open_how *how = (struct open_how *)a[2];
    inside = 1;
    int file = opened((int)a[0], (const char *)a[1], (int)how->flags, 0, how, (size_t)a[3]);
    inside = 0;
    return file;
  }
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

// MARK: Bytes

static ssize_t written(int file, const struct iovec *parts, int count, off_t offset) {
  struct stat status;
  uint64_t inode = recorded(file, &status);
  if (inode && S_ISREG(status.st_mode)) {
    pthread_mutex_lock(&lock);
    int flags = (int)syscall(SYS_fcntl, file, F_GETFL, 0L);
    off_t start = offset;
    if (start < 0) {
      status_at(file, "", &status, AT_EMPTY_PATH);
      start = flags & O_APPEND ? status.st_size : (off_t)syscall(SYS_lseek, file, 0L, (long)SEEK_CUR);
    }
    ssize_t done = offset < 0 ? syscall(SYS_writev, file, parts, (long)count)
                              : syscall(SYS_pwritev, file, parts, (long)count, offset, 0L);
    int error = errno;
    ssize_t left = done;
    for (int index = 0; index < count && left > 0; index++) {
      size_t length = parts[index].iov_len < (size_t)left ? parts[index].iov_len : (size_t)left;
      record(WRITE, inode, (uint64_t)start, 0, 0, parts[index].iov_base, length, 0, 0);
      start += (off_t)length;
      left -= (ssize_t)length;
    }
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
  }
  if (offset < 0 && is_socket(file)) {
    // Before it goes out: whoever reads it may already act on it.
    pthread_mutex_lock(&lock);
    for (int index = 0; index < count; index++)
      record(SAY, (uint64_t)file, 0, 0, 0, parts[index].iov_base, parts[index].iov_len, 0, 0);
    pthread_mutex_unlock(&lock);
  }
  return offset < 0 ? syscall(SYS_writev, file, parts, (long)count)
                    : syscall(SYS_pwritev, file, parts, (long)count, offset, 0L);
}

ssize_t write(int file, const void *bytes, size_t count) {
  if (log_file < 0) return syscall(SYS_write, file, bytes, count);
  struct iovec part = {(void *)bytes, count};
  return written(file, &part, 1, -1);
}

ssize_t writev(int file, const struct iovec *parts, int count) { return written(file, parts, count, -1); }

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
  struct iovec part = {(void *)bytes, count};
  return written(file, &part, 1, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  return pwrite(file, bytes, count, offset);
}

static int resized(int file, off_t length) {
  struct stat status;
  uint64_t inode = recorded(file, &status);
  pthread_mutex_lock(&lock);
  int failed = (int)syscall(SYS_ftruncate, file, length);
  int error = errno;
  if (inode && !failed) record(TRUNCATE, inode, (uint64_t)length, 0, 0, 0, 0, 0, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return failed;
}

int ftruncate(int file, off_t length) { return resized(file, length); }
int ftruncate64(int file, off64_t length) { return resized(file, length); }

// A call whose bytes the log learns by reading the file afterwards.
static long filled(int file, long result) {
  struct stat status;
  int error = errno;
  if (result >= 0 && recorded(file, &status)) {
    pthread_mutex_lock(&lock);
    char *bytes = malloc((size_t)status.st_size + 1);
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    int again = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0);
    ssize_t count = syscall(SYS_pread64, again, bytes, (size_t)status.st_size, 0L);
    if (again >= 0) syscall(SYS_close, again);
    record(TRUNCATE, status.st_ino, (uint64_t)status.st_size, 0, 0, 0, 0, 0, 0);
    if (count > 0) record(WRITE, status.st_ino, 0, 0, 0, bytes, (size_t)count, 0, 0);
    free(bytes);
    pthread_mutex_unlock(&lock);
  }
  errno = error;
  return result;
}

int fallocate(int file, int mode, off_t offset, off_t length) {
  return (int)filled(file, syscall(SYS_fallocate, file, mode, offset, length));
}

ssize_t sendfile(int to, int from, off_t *offset, size_t count) {
  return filled(to, syscall(SYS_sendfile, to, from, offset, count));
}

ssize_t copy_file_range(int from, off64_t *a, int to, off64_t *b, size_t count, unsigned flags) {
  return filled(to, syscall(SYS_copy_file_range, from, a, to, b, count, flags));
}

int ioctl(int file, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  long argument = va_arg(list, long);
  va_end(list);
  long result = syscall(SYS_ioctl, file, request, argument);
  return (int)(request == FICLONE ? filled(file, result) : result);
}

// MARK: Waiting for the disk

static int waited(int file, long number) {
  struct stat status;
  uint64_t inode = recorded(file, &status), wait = 0;
  if (inode) {
    pthread_mutex_lock(&lock);
    wait = ++waits;
    record(SYNC_BEGIN, inode, (uint64_t)getpid() << 32 | wait, 0, 0, 0, 0, 0, 0);
    pthread_mutex_unlock(&lock);
  }
  int failed = (int)syscall(number, file);
  int error = errno;
  if (inode && !failed) {
    pthread_mutex_lock(&lock);
    record(SYNC_END, inode, (uint64_t)getpid() << 32 | wait, 0, 0, 0, 0, 0, 0);
    pthread_mutex_unlock(&lock);
  }
  errno = error;
  return failed;
}

int fsync(int file) { return waited(file, SYS_fsync); }
int fdatasync(int file) { return waited(file, SYS_fdatasync); }

// MARK: Names

static int renamed(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  char old_path[PATH_MAX], new_path[PATH_MAX];
  int new_kept = resolve(to_folder, to, new_path), old_kept = resolve(from_folder, from, old_path);
  struct stat status;
  pthread_mutex_lock(&lock);
  int found = !status_at(from_folder, from, &status, AT_SYMLINK_NOFOLLOW);
  // The reader of the log drops this where it has seen the file made.
  if (found && new_kept && S_ISREG(status.st_mode)) record_base(old_kept ? old_path : from);
  int failed = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, (unsigned long)flags);
  int error = errno;
  if (!failed && found && (old_kept || new_kept)) {
    const char *old_name = "", *new_name = "";
    uint64_t old_parent = old_kept ? parent(old_path, &old_name) : 0;
    uint64_t new_parent = new_kept ? parent(new_path, &new_name) : 0;
    record(RENAME, old_parent, new_parent, status.st_ino, flags, old_name, strlen(old_name), new_name,
           strlen(new_name));
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return failed;
}

int rename(const char *from, const char *to) { return renamed(AT_FDCWD, from, AT_FDCWD, to, 0); }

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
  return renamed(from_folder, from, to_folder, to, 0);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  return renamed(from_folder, from, to_folder, to, flags);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  char path[PATH_MAX];
  int kept = resolve(to_folder, to, path);
  pthread_mutex_lock(&lock);
  int failed = (int)syscall(SYS_linkat, from_folder, from, to_folder, to, (long)flags);
  int error = errno;
  struct stat status;
  if (!failed && kept && !status_at(AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW)) {
    const char *name;
    uint64_t above = parent(path, &name);
    record_base(path);
    record(LINK, above, status.st_ino, 0, 0, name, strlen(name), 0, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return failed;
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int folder, const char *name, int flags) {
  char path[PATH_MAX];
  int kept = resolve(folder, name, path);
  struct stat status;
  pthread_mutex_lock(&lock);
  int found = kept && !status_at(folder, name, &status, AT_SYMLINK_NOFOLLOW);
  const char *last = "";
  uint64_t above = kept ? parent(path, &last) : 0;
  int failed = (int)syscall(SYS_unlinkat, folder, name, (long)flags);
  int error = errno;
  if (!failed && found)
    record(flags & AT_REMOVEDIR ? REMOVE_FOLDER : UNLINK, above, status.st_ino, 0, 0, last, strlen(last), 0, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return failed;
}

int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

int mkdirat(int folder, const char *name, mode_t mode) {
  char path[PATH_MAX];
  int kept = resolve(folder, name, path);
  pthread_mutex_lock(&lock);
  int failed = (int)syscall(SYS_mkdirat, folder, name, (long)mode);
  int error = errno;
  struct stat status;
  if (!failed && kept && !status_at(AT_FDCWD, path, &status, 0)) {
    const char *last;
    uint64_t above = parent(path, &last);
    record(MAKE_FOLDER, above, status.st_ino, status.st_mode & 07777, 0, last, strlen(last), 0, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return failed;
}

int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

int fchmod(int file, mode_t mode) {
  struct stat status;
  uint64_t inode = recorded(file, &status);
  pthread_mutex_lock(&lock);
  int failed = (int)syscall(SYS_fchmod, file, (long)mode);
  int error = errno;
  if (inode && !failed) record(MODE, inode, mode, 0, 0, 0, 0, 0, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return failed;
}

// MARK: Sockets

ssize_t sendmsg(int file, const struct msghdr *message, int flags) {
  if (is_socket(file)) {
    pthread_mutex_lock(&lock);
    for (size_t index = 0; index < message->msg_iovlen; index++) {
      struct iovec *part = &message->msg_iov[index];
      record(SAY, (uint64_t)file, 0, 0, 0, part->iov_base, part->iov_len, 0, 0);
    }
    pthread_mutex_unlock(&lock);
  }
  return syscall(SYS_sendmsg, file, message, (long)flags);
}

ssize_t send(int file, const void *bytes, size_t count, int flags) {
  struct iovec part = {(void *)bytes, count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  return sendmsg(file, &message, flags);
}

static ssize_t heard(int file, ssize_t done, const struct iovec *parts, size_t count) {
  int error = errno;
  if (done > 0 && is_socket(file)) {
    pthread_mutex_lock(&lock);
    ssize_t left = done;
    for (size_t index = 0; index < count && left > 0; index++) {
      size_t length = parts[index].iov_len < (size_t)left ? parts[index].iov_len : (size_t)left;
      record(HEAR, (uint64_t)file, 0, 0, 0, parts[index].iov_base, length, 0, 0);
      left -= (ssize_t)length;
    }
    pthread_mutex_unlock(&lock);
  }
  errno = error;
  return done;
}

ssize_t read(int file, void *bytes, size_t count) {
  struct iovec part = {bytes, count};
  return heard(file, syscall(SYS_read, file, bytes, count), &part, 1);
}

ssize_t recv(int file, void *bytes, size_t count, int flags) {
  struct iovec part = {bytes, count};
  return heard(file, syscall(SYS_recvfrom, file, bytes, count, (long)flags, 0L, 0L), &part, 1);
}

ssize_t recvmsg(int file, struct msghdr *message, int flags) {
  return heard(file, syscall(SYS_recvmsg, file, message, (long)flags), message->msg_iov, message->msg_iovlen);
}

int close(int file) {
  if (is_socket(file)) {
    pthread_mutex_lock(&lock);
    record(CLOSE, (uint64_t)file, 0, 0, 0, 0, 0, 0, 0);
    pthread_mutex_unlock(&lock);
  }
  return (int)syscall(SYS_close, file);
}
