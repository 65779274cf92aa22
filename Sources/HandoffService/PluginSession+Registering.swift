import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Paths

/// What a plugin has derived from what it was handed: the ledger is asked each time whether it may.
extension PluginSession {
  @Sendable
  func register(
    _ parameters: RegisterParameters
  ) async throws(RPCMessage.Failure) -> RegisteredRendition {
    let identifier = parameters.localIdentifier
    let (handoff, entry) = try await openHandoff(of: parameters.state, identifier)
    let offer = RenditionIntake.Offer(
      name: parameters.name,
      path: try Self.path(parameters),
      localIdentifier: identifier,
      handoff: handoff,
      giveSign: { entry.giveSign() }
    )
    do {
      let rendition = try await parts.renditions.take(
        offer,
        from: [parts.work] + settings.write
      )
      entry.giveSign()
      return RegisteredRendition(
        name: rendition.name,
        sha256: rendition.digest,
        size: rendition.size
      )
    } catch let error as ResultError {
      throw .refused(error)
    } catch {
      parts.logger.error(
        "A rendition could not be registered",
        [.destination: settings.name.text, .error: "\(error)"]
      )
      throw Self.notNow
    }
  }

  private static func path(
    _ parameters: RegisterParameters
  ) throws(RPCMessage.Failure) -> BytePath {
    guard let text = parameters.pathBytes else { return BytePath(parameters.path) }
    guard let path = BytePath(base64: text) else {
      throw .refused(ResultError(.malformedRequest, "path_bytes is not base64", effect: .none))
    }
    return path
  }
}
