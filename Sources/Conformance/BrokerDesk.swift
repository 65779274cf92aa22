import Digests
import Glibc
import HandoffProtocol
import LinuxSystem
import Paths
import Synchronization

/// Answers what a plugin asks the broker, and counts it.
final class BrokerDesk: Sendable {
  /// What is answered to `asset.resolve`.
  enum Resolving: Sendable {
    case granted
    case refused(ErrorCode)
    /// Nothing: the plugin is kept at work.
    case held
  }

  private struct State {
    var resolving = Resolving.granted
    var answersResults = true
    var videos: [String: [TrialVideo]] = [:]
    var resolved: [String: [String]] = [:]
    var foreign: [String] = []
    var unknownTokens = 0
    /// Calls of the plugin that wait for their answer.
    var held: [(id: RPCMessage.ID?, parameters: JSONValue)] = []
  }

  private let state = Mutex(State())

  /// Grants videos to the request of a token.
  func grant(_ videos: [TrialVideo], to token: String) {
    state.withLock { $0.videos[token] = videos }
  }

  /// From now on `asset.resolve` is answered so.
  func setResolving(_ resolving: Resolving) {
    state.withLock { $0.resolving = resolving }
  }

  /// Leaves results unanswered, as a broker does that dies.
  func holdResults() {
    state.withLock { $0.answersResults = false }
  }

  /// How often assets were resolved for a token.
  func resolveCount(_ token: String) -> Int {
    resolved(token).count
  }

  /// The local identifiers that were resolved for a token, in order.
  func resolved(_ token: String) -> [String] {
    state.withLock { $0.resolved[token] ?? [] }
  }

  /// What was asked for and stood in no request.
  var foreign: [String] { state.withLock { $0.foreign } }

  /// Messages whose token is of no request.
  var unknownTokens: Int { state.withLock { $0.unknownTokens } }

  /// Grants what was held, and everything from now on.
  func answerHeld(_ link: BrokerLink) {
    let held = state.withLock { state in
      state.resolving = .granted
      defer { state.held = [] }
      return state.held
    }
    for call in held {
      if let answer = resolve(call.parameters, call.id) { link.answer(call.id, answer) }
    }
  }

  /// The answer to a message; nil where none is given.
  func answer(
    _ method: String,
    _ parameters: JSONValue,
    _ id: RPCMessage.ID?
  ) -> Incoming.Answer? {
    switch MessageMethod(rawValue: method) {
    case .resolveAsset: resolve(parameters, id)
    case .registerAsset: register(parameters)
    case .result:
      state.withLock { $0.answersResults } ? .result(.object([:])) : nil
    case .progress, .log: .result(.object([:]))
    default: .error(.unsupported(method))
    }
  }

  private func resolve(_ parameters: JSONValue, _ id: RPCMessage.ID?) -> Incoming.Answer? {
    state.withLock { state in
      let token = parameters["state"]?.text ?? ""
      guard let videos = state.videos[token] else {
        state.unknownTokens += 1
        return refusal(.unknownState, "no handoff has this state token")
      }
      let asked = parameters["local_identifier"]?.text ?? "(no text)"
      guard let video = videos.first(where: { $0.identifier.text == asked }) else {
        state.foreign.append(asked)
        return refusal(.assetMissing, "the request does not name this asset")
      }
      state.resolved[token, default: []].append(asked)
      switch state.resolving {
      case .held:
        state.held.append((id, parameters))
        return nil
      case .refused(let code): return refusal(code, "this asset cannot be read: \(code.text)")
      case .granted: return .result(video.resolved)
      }
    }
  }

  /// Takes a rendition of an asset of the request as the broker does, and keeps nothing of it.
  private func register(_ parameters: JSONValue) -> Incoming.Answer {
    let offer: RegisterParameters
    do {
      offer = try WireCoder.document(RegisterParameters.self, from: parameters)
    } catch {
      return refusal(.malformedRequest, "not the parameters of asset.register: \(error)")
    }
    let refused = state.withLock { state -> Incoming.Answer? in
      guard let videos = state.videos[offer.state.revealed] else {
        state.unknownTokens += 1
        return refusal(.unknownState, "no handoff has this state token")
      }
      guard videos.contains(where: { $0.identifier == offer.localIdentifier }) else {
        state.foreign.append(offer.localIdentifier.text)
        return refusal(.assetMissing, "the request does not name this asset")
      }
      return nil
    }
    if let refused { return refused }
    do {
      let file = try FileDescriptor.open(
        BytePath(offer.path),
        O_RDONLY | O_NOFOLLOW | O_NONBLOCK
      )
      guard try file.status().kind == .regular else {
        return refusal(.malformedRequest, "\(offer.path) is no regular file")
      }
      let bytes = try file.readAll(limit: 1 << 28)
      guard let digest = ContentDigest(try SHA256.digest(of: bytes)) else {
        return refusal(.malformedRequest, "no digest")
      }
      return .result(
        .object([
          "name": .string(offer.name.text), "sha256": .string(digest.hex),
          "size": .integer(Int64(bytes.count)),
        ])
      )
    } catch {
      return refusal(.malformedRequest, "\(offer.path) cannot be read: \(error)")
    }
  }

  private func refusal(_ code: ErrorCode, _ message: String) -> Incoming.Answer {
    .error(.refused(ResultError(code, message, effect: .none)))
  }
}
