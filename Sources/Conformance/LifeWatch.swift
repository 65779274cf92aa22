import Glibc
import HandoffProtocol
import LinuxSystem
import Paths
import Synchronization

/// Watches everything that one process of the plugin says and leaves, whatever is being checked.
final class LifeWatch: Sendable {
  private struct State {
    var submitted: [String: Int] = [:]
    var refused: Set<String> = []
    var results: [String: Int] = [:]
    var answered: Set<Int64> = []
  }

  private static let mend =
    "Use `handoff_id` where people look, and a digest of the token in records; the state token itself "
    + "is for the broker alone."

  private let ledger: CheckLedger
  private let transcript: Transcript
  private let state = Mutex(State())

  init(_ ledger: CheckLedger, _ transcript: Transcript) {
    self.ledger = ledger
    self.transcript = transcript
  }

  // MARK: Messages

  /// A request is submitted, once more or for the first time: one more result may come.
  func expectsResult(_ token: String) {
    state.withLock { state in
      state.submitted[token, default: 0] += 1
      state.refused.remove(token)
    }
  }

  /// A request was refused: no result may come.
  func isRefused(_ token: String) {
    let early = state.withLock { state in
      state.refused.insert(token)
      return state.results[token] != nil && state.submitted[token] == 1
    }
    if early { resultAfterRefusal() }
  }

  /// Looks at a message.
  func saw(_ incoming: Incoming) {
    switch incoming {
    case .malformed(let why):
      fault(
        .wellFormed,
        "a line is no message: \(why)",
        "Write JSON-RPC 2.0 to the socket, one message a line, and nothing else; what people should "
          + "read goes to standard error."
      )
    case .answer(let id, let answer):
      // 0 stands for a line whose id could not be read.
      if id != 0, !state.withLock({ $0.answered.insert(id).inserted }) {
        fault(.wellFormed, "call \(id) was answered twice", "Answer every call once.")
      }
      switch answer {
      case .result(let value): search(value, "an answer")
      case .error(let failure):
        search(.string("\(failure.message) \(failure.data?.message ?? "")"), "an error")
      }
    case .message(let method, let parameters, let id):
      search(parameters, "`\(method)`")
      if case .text(let text) = id { search(.string(text), "the `id` of `\(method)`") }
      if method == MessageMethod.result.rawValue { result(parameters["state"]?.text ?? "") }
    }
  }

  private func result(_ token: String) {
    let (isRefused, isSecond) = state.withLock { state in
      state.results[token, default: 0] += 1
      return (
        state.refused.contains(token),
        state.results[token, default: 0] > max(1, state.submitted[token] ?? 0)
      )
    }
    if isRefused { return resultAfterRefusal() }
    guard isSecond else { return }
    fault(
      .resultOnce,
      "a second result came",
      "Send `handoff.result` once, and again only over a new connection; the broker refuses the "
        + "second as already_consumed."
    )
  }

  private func resultAfterRefusal() {
    fault(
      .resultOnce,
      "a result came for a request that it had refused",
      "Refuse a request, or take it and send its result once; not both."
    )
  }

  // MARK: Tokens

  /// Looks for tokens in what was printed.
  func searchOutput(_ text: String) {
    guard transcript.tokens.contains(where: text.contains) else { return }
    fault(.secrecy, "the state token is in what the plugin wrote to its log", Self.mend)
  }

  /// Looks for tokens in what was left.
  func searchFiles(_ folder: TrialFolder) {
    do {
      let found = try FolderWalk.first(in: [folder.path]) { path, kind -> String? in
        let name = path.lastComponent
        if transcript.tokens.contains(where: name.lossyText.contains) {
          return "the name of a file in \(path.parent.lastComponent.displayText)"
        }
        guard kind == .regular else { return nil }
        let bytes = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW).readAll(limit: 8 << 20)
        let text = String(decoding: bytes, as: UTF8.self)
        guard transcript.tokens.contains(where: text.contains) else { return nil }
        return "the file \(path.parent.lastComponent.displayText)/\(name.displayText)"
      }
      if let found { fault(.secrecy, "the state token is in \(found)", Self.mend) }
    } catch {
      // What cannot be read, or is too large for a record, is not looked at.
    }
  }

  /// Looks for tokens everywhere but in members that are named `state`.
  private func search(_ value: JSONValue, _ place: String) {
    guard hasToken(value) else { return }
    fault(.secrecy, "the state token is in \(place), outside of `state`", Self.mend)
  }

  private func hasToken(_ value: JSONValue) -> Bool {
    switch value {
    case .string(let text): transcript.tokens.contains(where: text.contains)
    case .array(let values): values.contains(where: hasToken)
    case .object(let members):
      members.contains { name, value in
        if hasToken(.string(name)) { return true }
        if name == "state", case .string = value { return false }
        return hasToken(value)
      }
    default: false
    }
  }

  private func fault(_ name: CheckName, _ got: String, _ mend: String) {
    ledger.fault(name, Finding(got, mend: mend), transcript)
  }
}
