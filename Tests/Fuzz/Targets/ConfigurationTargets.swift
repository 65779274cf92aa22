import HandoffConfig
import HandoffCore
import HandoffProtocol
import Paths

extension FuzzTarget {
  static let configuration = FuzzTarget("configuration") { bytes in
    let decode = { (bytes: [UInt8]) throws(ConfigurationError) in
      try Configuration.decode(
        bytes: bytes,
        file: "handoff.toml",
        directory: "/etc/handoff",
        resolve: { $0 }
      )
    }
    do throws(ConfigurationError) {
      let configuration = try decode(bytes)
      _ = configuration.effectiveText
    } catch {
      try Problems.check(error, of: bytes)
    }
  }

  static let sidecar = FuzzTarget("sidecar") { bytes in
    var folder = DropFolderSettings(path: "/exports")
    folder.handoff = destinations("archive", "preview")
    folder.syncPublishTo = destinations("social")
    let callbacks = Set(["editor"].compactMap { CallbackID($0) })
    let sidecar: Sidecar
    do throws(ConfigurationError) {
      sidecar = try Sidecar.decode(
        bytes: bytes,
        file: "clip.mp4.handoff.toml",
        folder: folder,
        callbacks: callbacks
      )
    } catch {
      return try Problems.check(error, of: bytes)
    }
    let own = folder.handoff + (sidecar.syncPublish == true ? folder.syncPublishTo : [])
    try hold(Set(sidecar.handoff ?? []).isSubset(of: own), "a destination of another folder")
    try hold(sidecar.callbackID.map(callbacks.contains) ?? true, "a callback nobody configured")
    try hold((sidecar.title ?? "").utf8.count <= Sidecar.maximumTitle, "a title that is too long")
    let metadata = try WireCoder.encode(sidecar.requestMetadata ?? .null)
    try hold(metadata.count <= Sidecar.maximumMetadata, "metadata of \(metadata.count) bytes")
  }

  private static func destinations(_ names: String...) -> [DestinationName] {
    names.compactMap { DestinationName($0) }
  }
}

/// What holds for the problems of a file.
enum Problems {
  /// At least one; each within the file, one line, in order.
  static func check(_ error: ConfigurationError, of bytes: [UInt8]) throws {
    try hold(!error.problems.isEmpty, "refused for nothing")
    let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
    for problem in error.problems {
      try Refusals.checkSentence(problem.text)
      try hold((1...lines + 1).contains(problem.line), "line \(problem.line) of \(lines)")
      try hold(problem.column >= 1, "column \(problem.column)")
    }
    let places = error.problems.map { ($0.line, $0.column) }
    try hold(zip(places, places.dropFirst()).allSatisfy { $0 <= $1 }, "problems out of order")
  }
}
