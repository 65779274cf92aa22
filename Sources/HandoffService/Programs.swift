import Glibc
import LinuxSystem
package import Paths

/// Where the programs are that belong to the broker.
package struct Programs: Sendable {
  /// The folder of the running `handoff`, in which its plugins and the probe are looked for first.
  package let folder: BytePath

  package init(folder: BytePath) {
    self.folder = folder
  }

  /// The folder of this process's own executable, from `/proc/self/exe` (proc(5)).
  package static func besideThisOne() throws -> Programs {
    Programs(folder: try thisExecutable().parent)
  }

  /// This process's own executable.
  package static func thisExecutable() throws -> BytePath {
    let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: 4096)
    defer { buffer.deallocate() }
    let count = try checked("readlink", "/proc/self/exe") {
      readlink("/proc/self/exe", buffer, 4096)
    }
    return BytePath((0..<count).map { UInt8(bitPattern: buffer[$0]) })
  }

  package var probe: BytePath { folder.appending("handoff-probe") }
}

/// The path with the symbolic links of its existing part resolved (realpath(3)); what does not exist yet
/// keeps its names.
package func resolved(_ path: BytePath) -> BytePath {
  do {
    return try Directory.canonical(path)
  } catch {
    let parent = path.parent
    guard !parent.isEmpty, parent != path else { return path }
    return resolved(parent).appending(path.lastComponent)
  }
}
