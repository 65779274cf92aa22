import HandoffProtocol
import Synchronization

/// Lets one task at a time change what belongs to one content: its record, its row, and whether its
/// bytes and its original are there.
///
/// A deletion and an import of the same content would otherwise leave a present asset without bytes.
/// A turn is short (no bytes of an import are copied in it), so waiting for one is not cancelled.
final class AssetTurns: Sendable {
  /// Who waits for each content that has a turn now.
  private let waiting = Mutex<[ContentDigest: [CheckedContinuation<Void, Never>]]>([:])

  func take<Value>(
    _ digest: ContentDigest,
    _ work: () async throws -> Value
  ) async rethrows -> Value {
    await begin(digest)
    defer { end(digest) }
    return try await work()
  }

  /// The same for several contents at once.
  func take<Value>(
    _ digests: Set<ContentDigest>,
    _ work: () async throws -> Value
  ) async rethrows -> Value {
    // In one order for all, so that nobody waits for who waits for them.
    let ordered = digests.sorted { $0.hex < $1.hex }
    for digest in ordered { await begin(digest) }
    defer { ordered.forEach(end) }
    return try await work()
  }

  private func begin(_ digest: ContentDigest) async {
    await withCheckedContinuation { continuation in
      let isFree = waiting.withLock { waiting in
        if waiting[digest] == nil {
          waiting[digest] = []
          return true
        }
        waiting[digest]?.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  private func end(_ digest: ContentDigest) {
    let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
      guard let first = waiting[digest]?.first else {
        waiting[digest] = nil
        return nil
      }
      waiting[digest]?.removeFirst()
      return first
    }
    next?.resume()
  }
}
