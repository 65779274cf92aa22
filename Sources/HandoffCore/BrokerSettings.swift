package import HandoffProtocol
package import Paths

/// What the broker itself is configured to be; the defaults are those of `config/handoff.toml`.
package struct BrokerSettings: Hashable, Sendable {
  /// A host and a port to listen on.
  package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name or an address; an IPv6 address without its brackets.
    package var host: String
    /// 0 for any free one.
    package var port: UInt16

    package init(host: String, port: UInt16) {
      self.host = host
      self.port = port
    }

    /// `HOST:PORT`, with brackets round an IPv6 address.
    package var description: String {
      host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
  }

  /// Absolute: ledger, key, socket and work folders.
  package var state: BytePath
  /// Dashboard and API; nil for none.
  package var listen: ListenAddress? = ListenAddress(host: "127.0.0.1", port: 7717)
  /// Absolute; nil for one in the state folder.
  package var tokenFile: BytePath?
  /// How receivers and browsers on other hosts reach the broker.
  package var publicURL: String?
  /// Names accepted in the Host header besides the local ones.
  package var allowedHosts: [String] = []
  /// The Unix group that may use the socket.
  package var group: String?
  /// Told of what only a status command would show.
  package var alert: CallbackID?
  /// How long ended handoffs are kept with their results and events; nil for ever.
  package var history: Duration? = .seconds(400 * 86_400)
  /// After so many crashes with it in hand a handoff or export is given up; 0 for never.
  package var crashLimit = 3

  package init(state: BytePath) {
    self.state = state
  }
}

/// What the library is configured to be; the defaults are those of `config/handoff.toml`.
package struct LibrarySettings: Hashable, Sendable {
  /// Free space that intake leaves.
  package enum Reserve: Hashable, Sendable {
    /// Hundredths of the file system, 0 to 100.
    case percent(Double)
    case bytes(Int64)

    /// The bytes to leave free on a file system of a size.
    package func bytes(of size: Int64) -> Int64 {
      switch self {
      case .percent(let percent): Int64(Double(size) * percent / 100)
      case .bytes(let bytes): bytes
      }
    }
  }

  /// Absolute.
  package var path: BytePath
  package var reserve = Reserve.percent(5)
  /// Age after which an asset with no open handoff is deleted; nil to keep all.
  package var retention: Duration?
  /// How often every resource is read again; nil for never.
  package var verifyEvery: Duration? = .seconds(30 * 86_400)

  package init(path: BytePath) {
    self.path = path
  }
}
