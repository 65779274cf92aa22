/// Which names a request may call this server by.
///
/// A page of another site can have its own name resolve to this machine, and a browser then sends its
/// requests here: the name in `Host` gives it away.
struct HostCheck: Sendable {
  private let names: Set<String>

  /// - Parameter names: accepted besides the local ones, without port.
  init(_ names: [String]) {
    self.names = Set((names + ["localhost", "127.0.0.1", "::1"]).map { Self.plain($0[...]) })
  }

  /// Whether the values of `Host` are one accepted name, with any port.
  func accepts(_ hosts: [String]) -> Bool {
    guard hosts.count == 1, let host = hosts.first else { return false }
    return names.contains(Self.plain(Self.withoutPort(host)))
  }

  private static func withoutPort(_ host: String) -> Substring {
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]") else { return "" }
      return host[...end]
    }
    guard let colon = host.firstIndex(of: ":") else { return host[...] }
    return host[..<colon]
  }

  /// Names are equal in any case, and with or without the dot of the root.
  private static func plain(_ name: Substring) -> String {
    var name = name
    if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
    if name.hasSuffix(".") { name = name.dropLast() }
    return name.lowercased()
  }
}
