import AssetLibrary
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import LinuxSystem
import MediaProbe
import Paths

/// Takes what a receiver derived from an asset into the library: the bytes as an object like any other, then
/// the asset's record, then the ledger.
///
/// A crash after any step leaves at most an object that nothing names, which `handoff gc` removes, or a
/// record that names a rendition too early, which the next registration or writing mends.
struct RenditionIntake: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  let probe: MediaProbe
  let brake: IntakeBrake
  let turns: AssetTurns
  let files: BlockingThread
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// What a receiver has to say of a rendition.
  struct Offer: Sendable {
    let name: RenditionName
    /// Where the receiver has it.
    let path: BytePath
    let localIdentifier: LocalIdentifier
    let handoff: Handoff
    /// Told often while bytes are copied.
    let giveSign: @Sendable () -> Void
  }

  /// Takes it.
  ///
  /// - Parameters:
  ///   - offer: from a receiver whose handoff is open and has the asset.
  ///   - folders: where the receiver may have files to offer.
  /// - Returns: what the library has now.
  /// - Throws: `ResultError` for the receiver, with effect `none`; the ledger's error.
  func take(_ offer: Offer, from folders: [BytePath]) async throws -> Rendition {
    let (file, identity) = try await open(offer, in: folders)
    let resource = try await copy(offer, file, identity)
    let facts = try await facts(of: resource)
    let rendition = Rendition(
      name: offer.name,
      digest: resource.digest,
      size: resource.size,
      fileExtension: Self.fileExtension(of: offer.path),
      facts: facts,
      registeredBy: offer.handoff.destination,
      registeredAt: now()
    )
    try await record(rendition, offer)
    logger.info(
      "A rendition was registered",
      [
        .assetID: offer.localIdentifier.text, .handoffID: offer.handoff.id.description,
        .destination: offer.handoff.destination.text, .detail: offer.name.text,
        .size: String(resource.size),
      ]
    )
    return rendition
  }

  // MARK: The receiver's file

  /// Opens a file in one of the folders, through no symbolic link, and nothing but a file.
  private func open(
    _ offer: Offer,
    in folders: [BytePath]
  ) async throws -> (FileDescriptor, FileIdentity) {
    let path = offer.path
    guard path.isAbsolute, path.isPlain, let folder = folders.first(where: path.isInside) else {
      throw Self.refusal(
        .accessLimited,
        "the file lies neither in the work folder nor in a folder that the destination may write",
        offer
      )
    }
    let relative = BytePath(path.bytes.dropFirst(folder.bytes.count).drop { $0 == 0x2f })
    do throws(SystemError) {
      let (file, status) = try await files.run { () throws(SystemError) in
        let root = try FileDescriptor.open(folder, O_RDONLY | O_DIRECTORY)
        let file = try FileDescriptor.openBeneath(
          relative,
          O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
          in: root
        )
        return (file, try file.status())
      }
      guard status.kind == .regular, status.size > 0 else {
        throw SystemError(status.kind == .regular ? ENODATA : EINVAL, "open", path)
      }
      return (file, status.identity)
    } catch {
      throw Self.refusal(
        [ELOOP, EXDEV].contains(error.errno) ? .accessLimited : .malformedRequest,
        Self.words(for: error),
        offer
      )
    }
  }

  private static func words(for error: SystemError) -> String {
    switch error.errno {
    case ENODATA: "the file is empty"
    case EINVAL, ENXIO: "only a regular file can be registered"
    case ELOOP, EXDEV: "the path leads through a symbolic link or out of its folder"
    default: "the file cannot be opened: \(error)"
    }
  }

  // MARK: Into the library

  private func copy(
    _ offer: Offer,
    _ file: FileDescriptor,
    _ identity: FileIdentity
  ) async throws -> ImportedResource {
    do throws(LibraryError) {
      if let shortage = try await brake.shortage(for: identity.size) {
        throw LibraryError(.noSpace, offer.path, detail: shortage)
      }
      return try await library.importResource(
        from: file,
        path: offer.path,
        expecting: identity,
        isStillGood: {
          offer.giveSign()
          return true
        }
      )
    } catch {
      throw Self.refusal(of: error, offer)
    }
  }

  /// Nil for what is no whole video: a picture, a text.
  private func facts(of resource: ImportedResource) async throws -> MediaFacts? {
    let object = try await library.open(resource.digest)
    let verdict = await probe.verdict(for: object, size: resource.size)
    switch verdict.judgement {
    case .complete, .notProvable: return verdict.facts
    case .incomplete, .unsuitable, .failed: return nil
    }
  }

  private func record(_ rendition: Rendition, _ offer: Offer) async throws {
    let identifier = offer.localIdentifier
    guard let digest = try await ledger.asset(identifier)?.digest else {
      throw Self.refusal(.assetMissing, "there is no such asset", offer)
    }
    try await turns.take([digest, rendition.digest]) {
      guard var asset = try await ledger.asset(identifier), asset.status != .deleted else {
        throw Self.refusal(.assetDeleted, "the asset was deleted", offer)
      }
      let before = asset
      do throws(LibraryError) {
        guard try await library.holds(rendition.digest) else {
          throw LibraryError(.sourceChanged, offer.path)
        }
        asset.renditions.removeAll { $0.name == rendition.name }
        asset.renditions.append(rendition)
        asset.renditions.sort { $0.name < $1.name }
        try await library.writeRecord(asset)
      } catch {
        throw Self.refusal(of: error, offer)
      }
      do {
        try await ledger.register(rendition, of: identifier, under: offer.handoff.id)
      } catch LedgerError.hasEnded {
        // Else a rebuild would know a rendition that was refused.
        try await library.writeRecord(before)
        throw Self.refusal(.expired, "the handoff has ended", offer)
      }
    }
  }

  // MARK: Words

  /// What follows the last dot of a file's name, where that is short and plain.
  private static func fileExtension(of path: BytePath) -> String {
    let name = path.lastComponent
    let rest = name.bytes.dropFirst(name.stem.bytes.count + 1)
    let isPlain = rest.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    return isPlain && rest.count <= 16 ? String(decoding: rest, as: UTF8.self) : ""
  }

  private static func refusal(
    _ code: ErrorCode,
    _ message: String,
    _ offer: Offer,
    retry: RetryAdvice = .never
  ) -> ResultError {
    ResultError(
      code,
      "\(offer.name): \(message)",
      effect: .none,
      retry: retry,
      localIdentifier: offer.localIdentifier
    )
  }

  private static func refusal(of error: LibraryError, _ offer: Offer) -> ResultError {
    switch error.code {
    case .noSpace: refusal(.noSpace, error.detail ?? "no space", offer, retry: .later)
    case .sourceChanged: refusal(.malformedRequest, "the file changed meanwhile", offer)
    case .sourceUnreadable: refusal(.malformedRequest, "the file cannot be read", offer)
    case .readOnly, .notPermitted, .inputOutput, .unavailable, .inUse, .unknownFormat,
      .checksumMismatch, .objectMissing, .objectDamaged, .malformedRecord, .invalidName, .other:
      refusal(.libraryUnavailable, error.description, offer, retry: .later)
    }
  }
}
