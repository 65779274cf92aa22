import CLinux

/// Keeps freed memory for the next use, as a service with steady work wants it; see mallopt(3).
///
/// To be called first in main, before there are threads.
package func keepFreedMemory() {
  clinux_keep_memory()
}
