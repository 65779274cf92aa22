import HandoffCore
import Synchronization

/// Where the HTTP API is to be reached, as far as it is.
final class APIAddress: Sendable {
  enum Condition: Hashable, Sendable {
    /// The configuration asks for none.
    case off
    case bound(String, port: UInt16)
    /// It is tried again.
    case failed(String)
  }

  private let listen: BrokerSettings.ListenAddress?
  private let publicURL: String?
  private let state: Mutex<Condition>

  init(_ broker: BrokerSettings) {
    listen = broker.listen
    publicURL = broker.publicURL
    state = Mutex(broker.listen == nil ? .off : .failed("not started yet"))
  }

  var condition: Condition { state.withLock { $0 } }

  func set(_ condition: Condition) {
    state.withLock { $0 = condition }
  }

  /// What receivers put before `/UUID/data` to read an asset; nil while nobody would answer there.
  var assets: String? {
    guard case .bound(let host, let port) = condition else { return nil }
    if let publicURL {
      return (publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL) + "/v3/assets"
    }
    // Nobody can connect to the address that means all of them.
    let reachable = ["0.0.0.0": "127.0.0.1", "::": "::1"][host] ?? host
    let address = BrokerSettings.ListenAddress(host: reachable, port: port)
    return "http://\(address)/v3/assets"
  }

  /// The names that the API may be called by besides the local ones.
  static func hosts(_ broker: BrokerSettings) -> [String] {
    var hosts = broker.allowedHosts
    if let listen = broker.listen { hosts.append(listen.host) }
    if let authority = broker.publicURL?.split(separator: "/", maxSplits: 2).dropFirst().first {
      hosts.append(host(of: authority))
    }
    return hosts
  }

  private static func host(of authority: Substring) -> String {
    if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
      return String(authority[...end])
    }
    return String(authority.prefix { $0 != ":" && $0 != "?" && $0 != "#" })
  }
}
