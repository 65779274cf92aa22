#pragma once
#include <microhttpd.h>

// Variadic functions do not import: the options go in as an array; see MHD_start_daemon.
// NULL with errno set when the daemon does not start. One thread of its own, loopback only.
static inline struct MHD_Daemon *handoff_mhd_start(
  MHD_AccessHandlerCallback handler, MHD_RequestCompletedCallback completed, void *context,
  const struct sockaddr *address)
{
  struct MHD_OptionItem options[] = {
    {MHD_OPTION_SOCK_ADDR, 0, (void *)address},
    {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)completed, context},
    {MHD_OPTION_CONNECTION_TIMEOUT, 30, NULL},
    {MHD_OPTION_END, 0, NULL},
  };
  return MHD_start_daemon(
    MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, handler, context,
    MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

static inline uint16_t handoff_mhd_port(struct MHD_Daemon *daemon)
{
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}
