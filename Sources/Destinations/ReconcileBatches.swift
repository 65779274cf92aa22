import HandoffProtocol

/// Cuts what is asked with `reconcile` into messages that either side can read.
enum ReconcileBatches {
  /// Bytes of requests in one message, well under ``RPCMessage/maximumSize``.
  static let sizeLimit = RPCMessage.maximumSize / 4
  /// Handoffs in one message: the answer may hold a result of the largest size for each.
  static let countLimit = RPCMessage.maximumSize / HandoffResult.maximumSize / 2

  /// The handoffs in their order, each in one batch; none is empty.
  static func of(_ handoffs: [SubmitParameters]) throws -> [[SubmitParameters]] {
    var batches: [[SubmitParameters]] = []
    var batch: [SubmitParameters] = []
    var size = 0
    for handoff in handoffs {
      let bytes = try WireCoder.encode(handoff).count
      if !batch.isEmpty, size + bytes > sizeLimit || batch.count == countLimit {
        batches.append(batch)
        (batch, size) = ([], 0)
      }
      batch.append(handoff)
      size += bytes
    }
    if !batch.isEmpty { batches.append(batch) }
    return batches
  }
}
