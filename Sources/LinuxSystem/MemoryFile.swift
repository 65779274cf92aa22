import CLinux
import Glibc

extension FileDescriptor {
  /// A file without a name that holds some bytes, to be read from their beginning.
  ///
  /// As the standard input of a child it needs nobody who writes: a child that reads nothing, or late,
  /// keeps nobody waiting, and nobody can get SIGPIPE. See memfd_create(2).
  package static func memory(_ bytes: [UInt8]) throws(SystemError) -> FileDescriptor {
    let number = try checked("memfd_create") { clinux_memory_file("handoff") }
    let file = FileDescriptor(owning: number)
    try file.write(bytes)
    try checked("lseek") { lseek(file.rawValue, 0, SEEK_SET) }
    return file
  }
}
