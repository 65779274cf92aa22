package import HandoffCore
package import LinuxSystem
package import Paths

/// An export that is proven finished, open and under its lease: what is imported.
///
/// It stands for the file, not for the name: whoever imports it reads from ``file`` and compares
/// ``identity`` before it touches the original.
package struct SettledExport: Sendable {
  package let folder: DropFolderSettings
  /// Absolute.
  package let path: BytePath
  /// Below the folder.
  package let relativePath: BytePath
  /// Open for reading.
  package let file: FileDescriptor
  /// As it was under the lease, before it was probed.
  package let identity: FileIdentity
  package let facts: MediaFacts
  package let evidence: [Evidence]
  /// What its writer says of the bytes: compared before anything is recorded.
  package internal(set) var checksum: ContentChecksum?
  /// How much longer it waits for its sidecar, should it have none; zero or less when no longer.
  package internal(set) var sidecarWait: Duration = .zero
  /// A rename was seen to bring it: it was not in the folder before, however old its inode is.
  package internal(set) var cameByRename = false
  private let lease: FileLease?

  init(
    folder: DropFolderSettings,
    path: BytePath,
    relativePath: BytePath,
    opened: ExportExaminer.Opened,
    facts: MediaFacts,
    evidence: [Evidence]
  ) {
    self.folder = folder
    self.path = path
    self.relativePath = relativePath
    self.file = opened.file
    self.identity = opened.identity
    self.facts = facts
    self.evidence = evidence
    self.lease = opened.lease
  }

  /// A file that a person takes for finished although the checks did not pass.
  ///
  /// - Parameters:
  ///   - path: absolute, inside the folder.
  ///   - folder: the drop folder that holds it.
  ///   - file: open for reading.
  ///   - identity: as the person's broker looked at it.
  ///   - facts: what is known of its content.
  ///   - lease: nil where none is to be had.
  package init?(
    acceptedAt path: BytePath,
    in folder: DropFolderSettings,
    file: FileDescriptor,
    identity: FileIdentity,
    facts: MediaFacts,
    lease: FileLease?
  ) {
    guard let relative = path.relative(to: folder.path) else { return nil }
    self.folder = folder
    self.path = path
    self.relativePath = relative
    self.file = file
    self.identity = identity
    self.facts = facts
    self.evidence = []
    self.lease = lease
  }

  /// Bytes.
  package var size: Int64 { identity.size }

  /// Somebody has begun to write to it: the attempt is to be given up as ``ImportOutcome/changed``.
  ///
  /// Always false without a lease, where only comparing before and after
  /// tells.
  package var isBroken: Bool { lease?.isBroken ?? false }
}
