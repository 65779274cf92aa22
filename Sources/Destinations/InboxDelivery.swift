import Digests
import Glibc
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Paths

/// Puts the assets of one handoff into an inbox: staged under a hidden name, then placed by renames that
/// replace nothing.
///
/// Blocks. What a reader of the inbox may rely on: a name that does not begin with a dot is whole; beside
/// a video under its name its manifest lies already; several assets come as one folder, with the manifest
/// in it.
struct InboxDelivery {
  let inbox: BytePath
  /// In the broker's state folder.
  let journals: BytePath
  let request: HandoffRequest
  let handoff: String
  let destination: DestinationName
  let assets: [InboxAsset]
  let progress: DeliveryProgress
  let logger: Logger

  /// Delivers; nothing is left behind where it throws.
  ///
  /// - Returns: the output of the result.
  /// - Throws: ``ResultError`` with effect none.
  func run() throws(ResultError) -> [String: JSONValue] {
    let folder = try inInbox { () throws(SystemError) in try InboxFolder(inbox) }
    var journal = DeliveryJournal(
      inbox: inbox,
      staging: try newStaging(),
      hasManifestBeside: assets.count == 1
    )
    try note(journal)
    do throws(ResultError) {
      return try deliver(&journal, folder)
    } catch {
      clear(journal, folder)
      throw error
    }
  }

  private func deliver(
    _ journal: inout DeliveryJournal,
    _ folder: InboxFolder
  ) throws(ResultError) -> [String: JSONValue] {
    let staging = try inInbox { [journal] () throws(SystemError) in
      try folder.makeFolder(journal.staging, in: folder.folder, permissions: 0o700)
    }
    let names = assets.count == 1 ? InboxName(assets[0].name) : InboxName(folderFor: firstName)
    let copied = try stage(folder, staging)
    for number in 1...InboxName.count {
      let name = names[number]
      guard try isFree(name, folder) else { continue }
      if assets.count == 1 { try write(manifest([name]), InboxFolder.manifest, staging) }
      try inInbox { () throws(SystemError) in
        try staging.sync()
        try folder.folder.sync()
      }
      if journal.name == nil, !progress.beginPlacing() {
        throw progress.abandonment?.error ?? DeliveryProgress.Reason.stopped.error
      }
      journal.name = name
      journal.output = output(name, copied)
      try note(journal)
      if try place(name, staging, folder) { return journal.output }
    }
    throw ResultError(
      .destinationUnavailable,
      "the inbox \(inbox.displayText) has \(InboxName.count) files of this name",
      effect: .none,
      retry: .later
    )
  }

  // MARK: Staging

  private var firstName: BytePath { assets.first?.name ?? BytePath(handoff) }

  private func newStaging() throws(ResultError) -> BytePath {
    do throws(RandomBytesError) {
      let random = try RandomBytes.make(count: 8)
      let digits = random.map { String(UInt32($0) + 256, radix: 16).dropFirst() }.joined()
      return BytePath(".handoff-\(handoff)-\(digits)")
    } catch {
      throw ResultError(.destinationUnavailable, "\(error)", effect: .none, retry: .later)
    }
  }

  /// Returns the bytes that were copied, nil where all were shared.
  private func stage(_ folder: InboxFolder, _ staging: FileDescriptor) throws(ResultError) -> Int64?
  {
    guard assets.count > 1 else {
      return try copy(assets[0], as: InboxFolder.content, in: staging)
    }
    let content = try inInbox { () throws(SystemError) in
      try folder.makeFolder(InboxFolder.content, in: staging, permissions: 0o755)
    }
    var names: [BytePath] = []
    var copied: Int64?
    for asset in assets {
      let choices = InboxName(asset.name)
      let taken = names + [InboxName.manifestInFolder]
      let name = (1...).lazy.map { choices[$0] }.first { !taken.contains($0) } ?? asset.name
      names.append(name)
      if let count = try copy(asset, as: name, in: content) { copied = (copied ?? 0) + count }
    }
    try write(manifest(names), InboxName.manifestInFolder, content)
    try inInbox { () throws(SystemError) in
      try checked("fchmod") { fchmod(content.rawValue, 0o755) }
      try content.sync()
    }
    return copied
  }

  private func copy(
    _ asset: InboxAsset,
    as name: BytePath,
    in folder: FileDescriptor
  ) throws(ResultError) -> Int64? {
    if let reason = progress.abandonment { throw reason.error }
    let copy = InboxCopy(asset: asset, progress: progress, inbox: inbox)
    switch try copy.make(name, in: folder) {
    case .reflink: return nil
    case .copy: return asset.size
    }
  }

  private func manifest(_ names: [BytePath]) throws(ResultError) -> [UInt8] {
    do {
      let manifest = try InboxManifest(
        request,
        handoff: handoff,
        destination: destination,
        files: zip(names, assets).map { InboxManifest.File(name: $0, asset: $1) }
      )
      return try WireCoder.encode(manifest) + [UInt8(ascii: "\n")]
    } catch {
      throw ResultError(.malformedRequest, "no manifest can be made: \(error)", effect: .none)
    }
  }

  private func write(
    _ bytes: [UInt8],
    _ name: BytePath,
    _ folder: FileDescriptor
  ) throws(ResultError) {
    try inInbox { () throws(SystemError) in
      let file = try FileDescriptor.open(
        name,
        O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
        mode: 0o644,
        in: folder
      )
      try file.write(bytes)
      try file.setPermissions(0o644)
      try file.sync()
    }
  }

  // MARK: What is left and what is told

  private func clear(_ journal: DeliveryJournal, _ folder: InboxFolder) {
    logger.logged("What was staged in an inbox is left until the next start.") {
      try folder.remove(journal.staging, in: folder.folder)
      try DeliveryJournal.remove(handoff, in: journals)
    }
  }

  private func note(_ journal: DeliveryJournal) throws(ResultError) {
    do {
      try journal.write(handoff, in: journals)
    } catch {
      throw ResultError(
        .destinationUnavailable,
        "the delivery cannot be noted: \(error)",
        effect: .none,
        retry: .later
      )
    }
  }

  /// Text for documents, with the bytes where they are no text.
  private func output(_ name: BytePath, _ copied: Int64?) -> [String: JSONValue] {
    let path = inbox.appending(name)
    var output: [String: JSONValue] = [
      "delivered": .bool(true), "path": .string(path.lossyText),
      "method": .string(copied == nil ? "reflink" : "copy"), "bytes_copied": .integer(copied ?? 0),
    ]
    output["path_bytes"] = path.base64UnlessText.map { .string($0) }
    return output
  }

  func inInbox<Value>(
    _ work: () throws(SystemError) -> Value
  ) throws(ResultError) -> Value {
    try InboxFailure.reporting(inbox, work)
  }
}
