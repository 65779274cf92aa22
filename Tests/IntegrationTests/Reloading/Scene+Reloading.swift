import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension Scene {
  /// Writes another configuration.
  func configure(_ text: String) throws {
    try DurableFile.write(Array(text.utf8), to: broker.config)
  }

  /// Writes another configuration and reloads it, which must go well.
  @discardableResult
  func reload(_ text: String) async throws -> JSONValue {
    try configure(text)
    return try await broker.json("reload")
  }

  /// A script that notes the request's first identifier in a file, so that a second delivery shows.
  func counting(_ name: String) throws -> String {
    try script(
      name,
      """
      line=$(cat | tr -d '\\n')
      printf '%s\\n' "$line" | grep -o '[0-9A-F-]*/L0/001' | head -1 >> '\(root)/\(name).seen'
      """
    )
  }

  /// What a ``counting(_:)`` script has noted.
  func seen(_ name: String) throws -> [String] {
    let file = broker.root.appending(BytePath("\(name).seen"))
    guard try FileStatus.of(file) != nil else { return [] }
    let bytes = try FileDescriptor.open(file, O_RDONLY).readAll(limit: 1 << 24)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  var root: String { broker.root.lossyText }

  /// An `exec` destination that is not contained, so that its script may write beside the broker.
  static func exec(_ name: String, _ script: String, _ more: String = "") -> String {
    """

    [destination.\(name)]
    transport = "exec"
    command = ["\(script)"]
    containment = "none"
    \(more)

    """
  }

  /// `status`' `config`, once it is in a state.
  func config(becomes state: String) async throws -> JSONValue {
    let status = try await broker.wait("status") { $0["config"]?["state"]?.text == state }
    return try #require(status["config"])
  }

  /// Every handoff, once so many are there and all have succeeded.
  @discardableResult
  func succeeded(
    _ count: Int,
    within limit: Duration = .seconds(60)
  ) async throws -> [JSONValue] {
    try await broker.wait("handoffs", within: limit) { handoffs in
      handoffs.elements.count == count
        && handoffs.elements.allSatisfy { $0["status"]?.text == "succeeded" }
    }.elements
  }
}
