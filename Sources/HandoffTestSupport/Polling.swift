/// Looks again and again until something is so, or the deadline has passed.
///
/// Only for what happens in another process, which cannot be awaited.
/// - Returns: the first value that is not nil, or nil after the deadline.
nonisolated(nonsending) package func poll<Value>(
  within limit: Duration = .seconds(20),
  every interval: Duration = .milliseconds(20),
  _ look: nonisolated(nonsending) () async throws -> Value?
) async throws -> Value? {
  let deadline = ContinuousClock.now.advanced(by: limit)
  while true {
    if let value = try await look() { return value }
    if ContinuousClock.now >= deadline { return nil }
    try await Task.sleep(for: interval)
  }
}
