import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem

/// What goes wrong in an archive, in the protocol's words.
///
/// Nothing of it leaves anything behind.
enum ArchiveError {
  /// The granted bytes are not those that were announced.
  static func damaged(_ asset: GrantedAsset, _ reason: String) -> ResultError {
    ResultError(
      .assetDamaged,
      "the granted file: \(reason)",
      effect: .none,
      localIdentifier: asset.localIdentifier
    )
  }

  /// A system call that failed: what can pass is tried again, everything else needs a person.
  static func result(_ error: SystemError) -> ResultError {
    switch error.errno {
    case EROFS, EACCES, EPERM:
      ResultError(
        .destinationUnavailable,
        "\(error)",
        effect: .none,
        retry: .afterFix,
        remedy: "Let the destination write there: its `write` list, and the folder's permissions."
      )
    default:
      ResultError(
        .destinationUnavailable,
        "\(error)",
        effect: .none,
        retry: error.mayPass ? .later : .afterFix
      )
    }
  }

  /// Does something whose failure changes nothing any more, and says so on standard error.
  static func logged(_ doing: String, _ work: () throws -> Void) {
    do {
      try work()
    } catch {
      log("\(doing): \(error)")
    }
  }

  /// Says something on standard error, which is the broker's log.
  static func log(_ message: String) {
    let line = Array("\(message)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }
}
