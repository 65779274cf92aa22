import Digests
import DropFolders
import HandoffCore
import HandoffProtocol
import LinuxSystem
import Paths
import Synchronization

/// Stands in for the probe, the ledger and the library: judges by the first and last bytes.
///
/// A file is whole when it ends with `WHOLE`. `UNPROVABLE`, `UNSUITABLE` and `HOLD` at the beginning
/// make it a format without an end, no video, and one whose import lasts until somebody writes to it
/// or removes it.
final class StandIn: Sendable {
  private let assets = Mutex<[BytePath: (FileIdentity, LocalIdentifier)]>([:])

  @Sendable func probe(_ file: FileDescriptor, _ size: Int64) async -> ProbeVerdict {
    let facts = MediaFacts(
      container: "mp4",
      videoCodec: "h264",
      width: 1,
      height: 1,
      rotation: 0,
      duration: 1,
      audioTracks: 0
    )
    do {
      let content = try bytes(file)
      guard content.suffix(5).elementsEqual("WHOLE".utf8) else {
        let evidence = Evidence(.structure, passed: false, "it does not end with WHOLE")
        return ProbeVerdict(.incomplete, evidence: [evidence])
      }
      if content.starts(with: "UNSUITABLE".utf8) {
        return ProbeVerdict(.unsuitable, evidence: [Evidence(.video, passed: false, "no video")])
      }
      let isProvable = !content.starts(with: "UNPROVABLE".utf8)
      return ProbeVerdict(
        isProvable ? .complete : .notProvable,
        facts: facts,
        evidence: [Evidence(.structure, passed: true, "it ends with WHOLE")]
      )
    } catch {
      return ProbeVerdict(.failed, evidence: [Evidence(.probe, passed: false, "\(error)")])
    }
  }

  @Sendable func known(_ path: BytePath, _ identity: FileIdentity) async -> LocalIdentifier? {
    guard let (seen, identifier) = assets.withLock({ $0[path] }) else { return nil }
    return seen.hasSameContent(as: identity) ? identifier : nil
  }

  @Sendable func take(_ export: SettledExport) async -> ImportOutcome {
    do {
      let content = try bytes(export.file)
      if content.starts(with: "HOLD".utf8) {
        for _ in 0..<2000 where !export.isBroken {
          if try export.file.status().identity != export.identity { break }
          try await Task.sleep(for: .milliseconds(10))
        }
      }
      if export.isBroken { return .changed }
      if let checksum = export.checksum, try sum(checksum.algorithm, content) != checksum.bytes {
        return .held(reason: "the digests differ", state: .waitingProof, upTo: nil)
      }
      let after = try export.file.status().identity
      guard after == export.identity else { return .changed }
      let identifier = LocalIdentifier(try digest(of: content))
      assets.withLock { $0[export.path] = (export.identity, identifier) }
      return .imported(identifier)
    } catch {
      return .failed(reason: "\(error)", state: .refused, mayPass: true)
    }
  }

  private func sum(
    _ algorithm: ContentChecksum.Algorithm,
    _ content: [UInt8]
  ) throws -> [UInt8] {
    switch algorithm {
    case .sha256: return try SHA256.digest(of: content)
    case .md5:
      var md5 = try MD5()
      content.withUnsafeBytes { md5.update($0) }
      return try md5.finish()
    }
  }

  private func bytes(_ file: FileDescriptor) throws -> [UInt8] {
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = try buffer.withUnsafeMutableBytes {
        try file.read(into: $0, at: Int64(content.count))
      }
      if count == 0 { return content }
      content += buffer[..<count]
    }
  }

  /// Not SHA-256: the fixture only needs that other bytes give another identifier (FNV-1a, 64 bits).
  private func digest(of content: [UInt8]) throws -> ContentDigest {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in content { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    let bytes = (0..<32).map { UInt8(truncatingIfNeeded: hash >> (8 * UInt64($0 % 8))) }
    guard let digest = ContentDigest(bytes) else { throw FixtureError("no digest") }
    return digest
  }
}
