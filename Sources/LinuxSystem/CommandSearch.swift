import Glibc
package import Paths

/// Finds the program of a destination's `command` or of a callback's `exec`.
package enum CommandSearch {
  /// The search path where the environment names none.
  package static let defaultPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

  /// The absolute path of a program, or nil if there is no executable file of that name.
  ///
  /// One with a slash is an absolute path; a bare name is looked for beside `handoff`, then on the
  /// search path.
  package static func program(
    _ name: String,
    beside programs: BytePath,
    searchPath: String
  ) -> BytePath? {
    if name.utf8.contains(UInt8(ascii: "/")) {
      let path = BytePath(name)
      return path.isAbsolute && isProgram(path) ? path : nil
    }
    if name.isEmpty { return nil }
    let neighbour = programs.appending(name)
    return isProgram(neighbour) ? neighbour : find(name, on: searchPath)
  }

  /// The first executable file of a name in the absolute folders of a search path.
  package static func find(_ name: String, on searchPath: String) -> BytePath? {
    // A relative or empty part would mean the present folder, whatever that is.
    searchPath.split(separator: ":").filter { $0.hasPrefix("/") }
      .map { BytePath(String($0)).appending(name) }
      .first(where: isProgram)
  }

  private static func isProgram(_ path: BytePath) -> Bool {
    var status = stat()
    return stat(path.nulTerminated, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && access(path.nulTerminated, X_OK) == 0
  }
}
