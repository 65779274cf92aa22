#pragma once
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

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
  MHD_NotifyConnectionCallback connected,
  void *(*target)(void *context, const char *uri, struct MHD_Connection *connection),
  void *context, const struct handoff_mhd_limits *limits)
{
  struct MHD_OptionItem options[] = {
    {MHD_OPTION_LISTEN_SOCKET, listener, NULL},
    {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)completed, context},
    {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)connected, context},
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

static inline int handoff_mhd_has_started(enum MHD_ConnectionNotificationCode code)
{
  return code == MHD_CONNECTION_NOTIFY_STARTED;
}

// -1 where it has none.
static inline int handoff_mhd_socket(struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

// One number for each client's address: all of IPv4, the network's half of IPv6.
static inline uint64_t handoff_mhd_client(struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info =
    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  if (!info || !info->client_addr) return 0;
  if (info->client_addr->sa_family == AF_INET)
    return ((const struct sockaddr_in *)info->client_addr)->sin_addr.s_addr;
  if (info->client_addr->sa_family != AF_INET6) return 0;
  const struct in6_addr *address = &((const struct sockaddr_in6 *)info->client_addr)->sin6_addr;
  uint64_t number = 0;
  // An IPv4 address within an IPv6 one stands in the last four bytes.
  if (IN6_IS_ADDR_V4MAPPED(address)) memcpy(&number, address->s6_addr + 12, 4);
  else memcpy(&number, address->s6_addr, 8);
  return number;
}
