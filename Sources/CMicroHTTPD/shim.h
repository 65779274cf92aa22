#pragma once
#include <microhttpd.h>

struct handoff_mhd_limits {
  unsigned int connections;
  // Seconds without a byte in or out; a suspended connection has none.
  unsigned int idle;
  // Bytes of a connection's pool, which holds the request's head.
  size_t memory;
};

// Variadic functions do not import: the options go in as an array; see MHD_start_daemon.
// NULL with errno set when the daemon does not start; else the daemon owns the listening socket.
// One thread of its own. The target comes in before it is unescaped, with no NUL lost.
static inline struct MHD_Daemon *handoff_mhd_start(
  int listener, MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback completed,
  void *(*target)(void *context, const char *uri, struct MHD_Connection *connection),
  void *context, const struct handoff_mhd_limits *limits)
{
  struct MHD_OptionItem options[] = {
    {MHD_OPTION_LISTEN_SOCKET, listener, NULL},
    {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)completed, context},
    {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)target, context},
    {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)limits->connections, NULL},
    {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)limits->idle, NULL},
    {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)limits->memory, NULL},
    {MHD_OPTION_END, 0, NULL},
  };
  return MHD_start_daemon(
    MHD_USE_EPOLL | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
    handler, context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}
