import LinuxSystem
package import Paths

/// The folders of a plugin, removed with everything in them when the test lets go of them.
package final class Scratch: Sendable {
  private let folder: TemporaryFolder

  package init() throws {
    folder = try TemporaryFolder()
    try Directory.create(path.appending("work"))
    try Directory.create(path.appending("out"))
    try Directory.create(path.appending("grants"))
  }

  package var path: BytePath { folder.path }
  package var work: BytePath { path.appending("work") }
  package var out: BytePath { path.appending("out") }

  /// Everything below the output folder, relative to it.
  package func files() throws -> Set<BytePath> {
    var found: Set<BytePath> = []
    func walk(_ folder: BytePath) throws {
      for entry in try Directory.entries(of: folder) {
        let inner = folder.appending(entry.name)
        if entry.kind == .directory {
          try walk(inner)
        } else {
          found.insert(known(inner.relative(to: out)))
        }
      }
    }
    try walk(out)
    return found
  }
}
