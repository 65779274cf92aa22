#pragma once
#include <gcrypt.h>

// gcry_control is variadic and gcry_mac_reset is a macro: neither imports into Swift.

/// Checks the version, then finishes the initialisation without secure memory; call it once.
/// Returns 0, or an error code; see "Initializing the library" in the libgcrypt manual.
static inline gcry_error_t handoff_gcry_initialize(void) {
  if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) return 0;
  if (!gcry_check_version(GCRYPT_VERSION)) return gcry_error(GPG_ERR_UNKNOWN_VERSION);
  gcry_error_t error = gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
  if (error) return error;
  return gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
}

/// Makes a keyed handle ready for the next message.
static inline gcry_error_t handoff_gcry_mac_reset(gcry_mac_hd_t handle) {
  return gcry_mac_reset(handle);
}
