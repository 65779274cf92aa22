package import LinuxSystem
package import Paths

/// The folder where SwiftPM has put the programs, beside the running test.
package func productsFolder() throws(SystemError) -> BytePath {
  try Directory.canonical("/proc/self/exe").parent
}
