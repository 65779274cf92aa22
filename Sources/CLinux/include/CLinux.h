// What Swift cannot import from glibc and the kernel: GNU extensions, variadic functions, macros.
// Unless a comment says otherwise, functions return -1 and set errno as the system call does.
#pragma once

#include <stddef.h>
#include <stdint.h>
// Plain C types: those of sys/types.h would come to Swift as this module's and shadow Glibc's.

// epoll(7), eventfd(2)

struct clinux_event {
  uint32_t events;
  uint64_t id;
};

enum { CLINUX_READABLE = 1, CLINUX_WRITABLE = 2, CLINUX_HANGUP = 4 };

int clinux_epoll_create(void);
int clinux_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t id);
int clinux_epoll_change(int epoll, int descriptor, uint32_t events, uint64_t id);
int clinux_epoll_remove(int epoll, int descriptor);
int clinux_epoll_wait(int epoll, struct clinux_event *events, int capacity, int timeout_ms);
int clinux_eventfd(void);

// Starts a thread with every signal blocked. Returns 0 or an error number.
int clinux_thread(const char *name, void *(*body)(void *), void *context);
int clinux_thread_id(void);

// posix_spawn(3), pidfd_open(2), waitid(2), prlimit(2)

struct clinux_mapping {
  int child;
  int parent;
};

// Starts a program in its own process group (or session), with default signal actions, no signal
// blocked, exactly the mapped descriptors (0, 1 and 2 are /dev/null where they are not mapped) and
// an optional working directory. Returns 0 or an error number.
int clinux_spawn(
  int *pid, const char *path, char *const arguments[], char *const environment[],
  const struct clinux_mapping *mappings, size_t count, const char *directory, int new_session);
int clinux_pidfd_open(int pid);
int clinux_pidfd_signal(int pidfd, int signal);
// Collects an exited child. Sets *code to the exit code, or *signal to the signal's number (else 0).
// Returns 0 when there was none to collect yet, 1 when it was collected.
int clinux_collect(int pidfd, int *code, int *signal);

enum clinux_resource {
  CLINUX_CPU_SECONDS,
  CLINUX_FILE_SIZE,
  CLINUX_CORE_SIZE,
  CLINUX_ADDRESS_SPACE,
  CLINUX_OPEN_FILES,
  CLINUX_PROCESSES
};

int clinux_limit(int pid, enum clinux_resource resource, uint64_t value);
// Gives the calling thread, and what it starts from then on, no new privileges (see prctl(2),
// PR_SET_NO_NEW_PRIVS) and a umask of its own.
int clinux_confine_thread(unsigned mask);

// Files

int clinux_rename_no_replace(int from_directory, const char *from, int to_directory, const char *to);
int clinux_clone(int to, int from);
int64_t clinux_first_hole(int descriptor, int64_t from);
int64_t clinux_next_data(int descriptor, int64_t from);
// Opens a file only as a place (O_PATH), without following a link at its name: needs no permission to
// read it, and neither waits for nor breaks a lease.
int clinux_open_place(const char *path);

// Opens a folder only as a place (O_PATH).
int clinux_open_folder_path(const char *path);
// openat2(2) that follows no symbolic link and never leaves the directory.
int clinux_open_beneath(int directory, const char *path, int flags, unsigned mode);
int clinux_file_system_magic(int descriptor, int64_t *magic);
// Turns O_DIRECT on or off: past the page cache, straight from and to the device.
int clinux_set_direct(int descriptor, int is_direct);
// fallocate(2): room for a file, or ENOSPC now; never by writing zeros.
int clinux_allocate(int descriptor, int64_t size);
// A number that is the same for all places of one mount, statx(2).
int clinux_mount_number(const char *path, uint64_t *number);
// ioprio_set(2) of the calling thread: the idle class, or none of its own.
int clinux_idle_disk_priority(int idle);

// Leases, fcntl(2)

// Sends the signal of a break to one thread, then takes a read lease.
int clinux_lease(int descriptor, int signal, int thread);
int clinux_lease_release(int descriptor);
// 1 when a read lease is held and not being broken, 0 when not.
int clinux_lease_is_held(int descriptor);

// Signals

int clinux_lease_signal(void);
// Ignores a signal. Where it is blocked it is still queued for a signalfd.
int clinux_ignore_signal(int signal);
// Writes the number of each signal that comes, one byte, to a descriptor that does not block; at most
// one descriptor a process. Works in whichever thread the signal comes, whatever the others block.
int clinux_route_signals(const int *signals, size_t count, int descriptor);
// Gives the signals their default action again.
int clinux_restore_signals(const int *signals, size_t count);
int clinux_signalfd(const int *signals, size_t count);
// Reads one signal: its number, or 0 when there is none. *descriptor is the file of a lease, or -1.
int clinux_read_signal(int signalfd, int *descriptor);

// Sockets, unix(7)

int clinux_socket_pair(int pair[2]);
int clinux_socket(void);
int clinux_bind(int socket, const char *path);
int clinux_connect(int socket, const char *path);
// Binds to an abstract name, which is no file.
int clinux_bind_abstract(int socket, const char *name);
int clinux_accept(int socket);
// One sendmsg(2) without SIGPIPE; passes a descriptor unless it is -1.
intptr_t clinux_send(int socket, const void *bytes, size_t count, int descriptor, int wait);
// One recvmsg(2); *descriptor is one that was passed (close-on-exec), or -1.
intptr_t clinux_receive(int socket, void *bytes, size_t count, int *descriptor, int wait);
// SO_PEERCRED: the user id at the other end of a Unix socket, when it connected.
int clinux_peer_user(int socket, uint32_t *user);
int clinux_set_nonblocking(int descriptor);
int clinux_is_open(int descriptor);
int clinux_pipe(int pair[2]);
// Bytes that wait to be read.
int clinux_unread(int descriptor, int *count);

// A file without a name that lives in memory, close-on-exec; see memfd_create(2).
int clinux_memory_file(const char *name);

// mallopt(3): keeps freed memory for the next use instead of giving it back at once.
void clinux_keep_memory(void);
