import HandoffProtocol
import HandoffWire
import LinuxSystem

/// One connection between a destination and its broker, from the first message to the end.
struct PluginSession<Served: Destination> {
  let context: DestinationContext
  let now: @Sendable () -> Timestamp

  /// Serves until the broker says to end or the socket does.
  func serve(_ socket: FileDescriptor) async throws {
    let journal = HandoffJournal(work: context.work)
    let contents = try await journal.open()
    for (id, reason) in contents.damaged {
      ProcessLog.write("the journal of handoff \(id) cannot be read: \(reason)")
    }
    let receiver = Receiver<Served>(
      context: context,
      journal: journal,
      contents: contents,
      now: now
    )
    let ending = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let peer = RPCPeer(
      socket: socket,
      forgivesLines: true
    ) { method, parameters throws(RPCMessage.Failure) in
      let answer = try await Self.answer(receiver, method, parameters)
      if method == MessageMethod.shutdown.rawValue {
        await receiver.stop()
        ending.continuation.yield()
      }
      return answer
    }
    await receiver.attach(Self.link(peer))
    await receiver.prune()
    try await withThrowingTaskGroup { group in
      group.addTask {
        for await _ in ending.stream { break }
        // The broker has a moment to read the answer and to hang up itself.
        try await Task.sleep(for: .seconds(1))
        peer.close()
      }
      defer { group.cancelAll() }
      try await peer.run()
    }
    await receiver.stop()
    try await journal.close()
  }

  private static func answer(
    _ receiver: Receiver<Served>,
    _ method: String,
    _ parameters: JSONValue?
  ) async throws(RPCMessage.Failure) -> JSONValue {
    do {
      return try await receiver.answer(method, parameters)
    } catch let failure as RPCMessage.Failure {
      throw failure
    } catch let error as ResultError {
      throw .refused(error)
    } catch {
      throw RPCMessage.Failure(code: -32_603, message: "\(method): \(error)")
    }
  }

  private static func link(_ peer: RPCPeer) -> BrokerLink {
    BrokerLink { method, parameters in
      do {
        return try await peer.call(method.rawValue, parameters)
      } catch is PeerError {
        throw BrokerGone()
      }
    }
  }
}
