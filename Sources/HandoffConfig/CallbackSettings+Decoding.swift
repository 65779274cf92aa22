import HandoffCore
import HandoffProtocol
import Paths

extension CallbackSettings {
  /// Nil where no action can be made out, which has been reported.
  init?(id: CallbackID, from reader: TableReader) {
    let action = Self.action(from: reader)
    let secret = SecretReference("secret", of: reader)
    let oldSecret = SecretReference("old_secret", of: reader)
    let command = reader.has("command") ? reader.command("command") : Self.opener
    _ = reader.node("command")
    reader.finish()
    guard let action else { return nil }
    Self.checkKeys(action, of: reader)
    self.init(id: id, action: action, secret: secret, oldSecret: oldSecret, command: command)
  }

  /// A secret was always taken beside every kind; the keys that came later are checked.
  private static func checkKeys(_ action: Action, of reader: TableReader) {
    var foreign = ["old_secret", "command"]
    switch action {
    case .url:
      foreign = ["command"]
      if !reader.has("secret") { reader.report("secret", "missing: what signs the notices?") }
    case .open: foreign = ["old_secret"]
    case .exec, .file: break
    }
    for key in foreign where reader.has(key) {
      reader.report(key, "means nothing with a callback of this kind")
    }
  }

  private static func action(from reader: TableReader) -> Action? {
    let kinds = ["exec", "url", "open", "file"]
    for kind in kinds { _ = reader.node(kind) }
    let given = kinds.filter { reader.has($0) }
    guard let kind = given.first, given.count == 1 else {
      let found = given.isEmpty ? "none" : given.joined(separator: " and ")
      reader.context.report(
        "\(reader.path): exactly one of exec, url, open and file is expected, not \(found)",
        at: reader.path
      )
      return nil
    }
    switch kind {
    case "exec":
      return .exec(reader.command("exec"))
    case "file":
      if reader.text("file") == "" { reader.report("file", "an empty path") }
      return reader.optionalPath("file").map { .file($0) }
    default:
      guard let url = reader.text(kind) else { return nil }
      let fault = kind == "url" ? WebAddress.fault(url) : WebAddress.fault(url, schemes: [])
      if let fault { reader.report(kind, fault) }
      return kind == "url" ? .url(url) : .open(url)
    }
  }
}

extension SecretReference {
  /// Reads `{ env = "…" }`, `{ file = "…" }` or `{ credential = "…" }`; nil if it is missing or wrong.
  init?(_ key: String, of reader: TableReader) {
    if let node = reader.node(key), case .string = node.content {
      // The sentence does not repeat what may be the secret itself.
      reader.report(
        key,
        "a secret is never written here; say { env = \"NAME\" } or { file = \"…\" }"
      )
      return nil
    }
    let table = reader.table(key)
    let variable = table.text("env")
    let file = table.optionalPath("file")
    let credential = table.text("credential")
    table.finish()
    guard reader.has(key) else { return nil }
    let given = ["env", "file", "credential"].filter { table.has($0) }
    guard given.count == 1 else {
      reader.report(key, "exactly one of env, file and credential is expected")
      return nil
    }
    if let variable, Self.isVariableName(variable) {
      self = .env(variable)
    } else if let file {
      self = .file(file)
    } else if let credential, !credential.isEmpty, !credential.contains("/") {
      self = .credential(credential)
    } else {
      table.report(given[0], "no such name")
      return nil
    }
  }

  /// A name that environ(7) can hold and a shell can set.
  static func isVariableName(_ text: String) -> Bool {
    let allowed = text.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }
    return allowed && !text.isEmpty && text.first?.isNumber == false
  }
}

extension TableReader {
  /// A program and its arguments; the program is made absolute if it has a slash.
  func command(_ key: String) -> [String] {
    guard let texts = texts(key) else { return [] }
    guard let program = texts.first, !program.text.isEmpty else {
      report(key, "a program is expected, and its arguments")
      return []
    }
    let arguments = texts.dropFirst().map(\.text)
    guard program.text.contains("/") else { return [program.text] + arguments }
    // A text of TOML is UTF-8, and so is what it is appended to unless the folder's name is not.
    return [context.absolute(program.text).lossyText] + arguments
  }
}
