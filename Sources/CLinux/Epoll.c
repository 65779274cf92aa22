#define _GNU_SOURCE
#include "CLinux.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

static uint32_t to_kernel(uint32_t events) {
  uint32_t wanted = 0;
  if (events & CLINUX_READABLE) wanted |= EPOLLIN | EPOLLRDHUP;
  if (events & CLINUX_WRITABLE) wanted |= EPOLLOUT;
  return wanted;
}

static uint32_t from_kernel(uint32_t events) {
  uint32_t seen = 0;
  if (events & (EPOLLIN | EPOLLRDHUP | EPOLLPRI)) seen |= CLINUX_READABLE;
  if (events & EPOLLOUT) seen |= CLINUX_WRITABLE;
  if (events & (EPOLLHUP | EPOLLERR)) seen |= CLINUX_HANGUP;
  return seen;
}

int clinux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static int control(int epoll, int operation, int descriptor, uint32_t events, uint64_t id) {
  struct epoll_event event = {.events = to_kernel(events), .data.u64 = id};
  return epoll_ctl(epoll, operation, descriptor, &event);
}

int clinux_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t id) {
  return control(epoll, EPOLL_CTL_ADD, descriptor, events, id);
}

int clinux_epoll_change(int epoll, int descriptor, uint32_t events, uint64_t id) {
  return control(epoll, EPOLL_CTL_MOD, descriptor, events, id);
}

int clinux_epoll_remove(int epoll, int descriptor) {
  return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL);
}

int clinux_epoll_wait(int epoll, struct clinux_event *events, int capacity, int timeout_ms) {
  struct epoll_event seen[64];
  int room = capacity < 64 ? capacity : 64;
  int count = epoll_wait(epoll, seen, room, timeout_ms);
  for (int index = 0; index < count; index++) {
    events[index].events = from_kernel(seen[index].events);
    events[index].id = seen[index].data.u64;
  }
  return count;
}

int clinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
