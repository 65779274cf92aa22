import HandoffPluginKit
import HandoffProtocol
import Paths

/// Brings one asset to a remote.
///
/// Where the remote can rename, the bytes go to a temporary name, are proven there, and get their name last.
/// Else they go straight to their name, on services where a file is there as a whole or not at all.
struct RemoteCopy: Sendable {
  private let remote: Remote
  private let features: RemoteFeatures
  private let asset: GrantedAsset
  private let sums: [String: String]
  private let folder: String
  private let name: BytePath
  private let temporaryName: String
  private let uploads: RemoteUploads
  private let progress: @Sendable (Double) async -> Void

  init(
    _ item: ArchiveItem,
    _ sums: RemoteSums,
    remote: Remote,
    features: RemoteFeatures,
    uploads: RemoteUploads,
    _ progress: @escaping @Sendable (Double) async -> Void
  ) {
    self.remote = remote
    self.features = features
    asset = item.asset
    self.sums = sums.values
    folder = RemoteName.text(item.place.folder)
    name = BytePath(RemoteName.text(item.place.name))
    temporaryName = item.temporaryName
    self.uploads = uploads
    self.progress = progress
  }

  /// Keeps the asset; a copy that is there already is enough.
  ///
  /// - Returns: the copy's path, and how it is known to be right.
  func keep() async throws -> (path: String, proof: RemoteProof) {
    let names = ArchiveName.candidates(for: name, asset.sha256).map(RemoteName.text)
    try await uploads.sweep(temporaryName)
    let found = try await remote.files(in: folder, named: names, beginning: temporaryName)
    for file in found where file.name.hasPrefix(temporaryName) {
      try await remote.delete(RemoteName.path(folder, file.name))
    }
    var uploaded: RemoteProof?
    do {
      for name in names {
        if let file = found.first(where: { isSame($0.name, name) }) {
          guard let proof = try await proof(of: file) else { continue }
          return (RemoteName.path(folder, file.name), proof)
        }
        if let brought = try await bring(to: name, &uploaded) {
          try await uploads.finish(temporaryName)
          return brought
        }
      }
    } catch {
      // Nobody looks at a temporary file any more once a person has to mend something or it is given up.
      if (error as? ResultError)?.retry != .later { await removeTemporary() }
      throw error
    }
    await removeTemporary()
    throw ResultError(
      .receiverFailed,
      "other content has every name for this asset in \(remote.address.place(folder))",
      effect: .none,
      retry: .afterFix
    )
  }

  /// The name is that of a file there.
  private func isSame(_ found: String, _ name: String) -> Bool {
    // Not by ==, for which names that are composed differently are equal.
    features.ignoresCase
      ? found.lowercased() == name.lowercased() : Array(found.utf8) == Array(name.utf8)
  }

  /// The proof that a file that was there has the asset's bytes; nil if it has others.
  private func proof(of file: Remote.File) async throws -> RemoteProof? {
    guard file.size == asset.size else { return nil }
    return try await remote.proof(
      of: RemoteName.path(folder, file.name),
      sums,
      isOwnUpload: false,
      step(0.6, 1)
    )
  }

  /// Uploads to a name that was free; nil if other content has taken it meanwhile.
  private func bring(
    to name: String,
    _ uploaded: inout RemoteProof?
  ) async throws -> (path: String, proof: RemoteProof)? {
    let path = RemoteName.path(folder, name)
    guard features.canMove else {
      try await uploads.begin(temporaryName, path)
      return (path, try await send(to: path, inPlace: false))
    }
    let temporary = RemoteName.path(folder, temporaryName)
    let proof: RemoteProof
    if let earlier = uploaded {
      proof = earlier
    } else {
      proof = try await send(to: temporary, inPlace: true)
      uploaded = proof
    }
    // The upload took its time: somebody may have come, and a rename may replace.
    if let file = try await remote.files(in: folder, named: [name]).first(where: {
      isSame($0.name, name)
    }) {
      guard let other = try await self.proof(of: file) else { return nil }
      try await remote.delete(temporary)
      return (RemoteName.path(folder, file.name), other)
    }
    try await remote.move(temporary, to: path)
    guard try await remote.size(of: path) == asset.size else {
      throw ResultError(
        .receiverFailed,
        "\(remote.address.place(path)) is not there, or not whole, after it was given its name",
        effect: .none,
        retry: .later,
        localIdentifier: asset.localIdentifier
      )
    }
    return (path, proof)
  }

  /// Uploads, and proves what has come.
  private func send(to path: String, inPlace: Bool) async throws -> RemoteProof {
    try await remote.upload(asset.path, to: path, inPlace: inPlace, step(0.1, 0.6))
    let isThere = try await remote.size(of: path) == asset.size
    if isThere,
      let proof = try await remote.proof(of: path, sums, isOwnUpload: true, step(0.6, 1))
    {
      return proof
    }
    throw ResultError(
      .receiverFailed,
      "\(remote.address.place(path)) has other bytes than were uploaded",
      effect: .none,
      retry: .later,
      remedy: features.canMove
        ? nil : "Look at it, and remove it: the next attempt uses another name.",
      localIdentifier: asset.localIdentifier
    )
  }

  /// Tells bytes that are moved as a part of the whole.
  private func step(_ from: Double, _ to: Double) -> @Sendable (Int64) async -> Void {
    let size = Double(max(asset.size, 1))
    return { [progress] bytes in
      await progress(from + (to - from) * min(1, Double(bytes) / size))
    }
  }

  /// Takes away what is left of an upload that nobody goes on with.
  private func removeTemporary() async {
    guard features.canMove else { return }
    let (remote, folder, temporaryName) = (remote, folder, temporaryName)
    // In a task that is not cancelled with this one, and waited for.
    await Task {
      do {
        for file in try await remote.files(in: folder, named: [], beginning: temporaryName) {
          try await remote.delete(RemoteName.path(folder, file.name))
        }
      } catch {
        ArchiveError.log("removing \(remote.address.place(folder))/\(temporaryName)*: \(error)")
      }
    }.value
  }
}
