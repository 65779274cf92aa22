import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// An archive on a remote of rclone.
struct RemoteStore: ArchiveStore {
  let remote: Remote
  /// The plugin's own folder.
  let work: BytePath
  private let turns = RemoteTurns()

  func keep(
    _ item: ArchiveItem,
    _ progress: @escaping @Sendable (Double) async -> Void
  ) async throws -> ArchiveReceipt {
    do {
      let features = try await remote.features()
      let sums = try await RemoteSums(of: item.asset, for: features.hashes) {
        await progress($0 * 0.1)
      }
      let copy = RemoteCopy(
        item,
        sums,
        remote: remote,
        features: features,
        uploads: RemoteUploads(remote, features, work: work),
        progress
      )
      let folder = RemoteName.text(item.place.folder)
      let wanted = RemoteName.path(folder, RemoteName.text(item.place.name)).lowercased()
      let (path, proof) = try await turns.run(wanted) { try await copy.keep() }
      let name = String(path.split(separator: "/").last ?? "")
      let manifest = RemoteManifest(remote: remote, features: features, folder: folder, work: work)
      try await turns.run(RemoteName.path(folder, Manifest.name.lossyText)) {
        try await manifest.add(name, item.asset.sha256)
      }
      return ArchiveReceipt(
        path: BytePath(path),
        location: remote.address.place(path),
        sha256: item.asset.sha256,
        size: item.asset.size,
        checksum: proof.checksum
      )
    } catch let error as SystemError {
      throw ArchiveError.result(error)
    }
  }

  func checks() async -> [DestinationCheck] {
    await RemoteChecks(remote: remote).all()
  }

  func verify(_ asset: DeliveredAsset, at path: BytePath?) async throws -> VerifiedAsset {
    try await verify(asset, at: path, nil)
  }

  func verify(
    _ asset: DeliveredAsset,
    at path: BytePath?,
    _ checksum: ArchiveReceipt.Checksum?
  ) async throws -> VerifiedAsset {
    var found = VerifiedAsset(localIdentifier: asset.localIdentifier, standing: .unknown)
    guard let path = path?.exactText, !BytePath(path).isAbsolute else {
      found.message = "the receipt tells of no path on this remote"
      return found
    }
    found.location = remote.address.place(path)
    do {
      try await look(asset, path, checksum, &found)
    } catch let error as ResultError {
      found.standing = .unknown
      found.message = "\(error)"
    }
    return found
  }

  private func look(
    _ asset: DeliveredAsset,
    _ path: String,
    _ checksum: ArchiveReceipt.Checksum?,
    _ found: inout VerifiedAsset
  ) async throws {
    guard let size = try await remote.size(of: path) else {
      found.standing = .missing
      return
    }
    guard size == asset.size else {
      found.standing = .damaged
      found.method = "size"
      found.message = "\(size) bytes instead of \(asset.size)"
      return
    }
    var sums = ["sha256": asset.sha256.hex]
    if let checksum { sums[checksum.algorithm] = checksum.value }
    let proof = try await remote.proof(of: path, sums, isOwnUpload: true) { _ in }
    found.method = proof?.algorithm ?? "sha256"
    found.standing = proof == nil ? .damaged : .intact
    guard let proof else { return }
    found.message =
      proof.isDownloaded
      ? "downloaded and compared"
      : "as the server tells it, which S3 does without reading again; verify = \"download\" reads"
  }
}
