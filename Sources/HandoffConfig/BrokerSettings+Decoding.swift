import HandoffCore
import HandoffProtocol
import Paths

extension BrokerSettings {
  init(from reader: TableReader) {
    self.init(state: reader.context.absolute("state"))
    reader.read("state", into: &state)
    if let text = reader.text("listen") { listen = ListenAddress(text, of: reader) }
    tokenFile = reader.optionalPath("token_file")
    publicURL = reader.optionalText("public_url")
    if let publicURL,
      let fault = WebAddress.fault(publicURL) ?? WebAddress.addition(to: publicURL, ["?", "#"])
    {
      reader.report("public_url", fault)
    }
    reader.read("allowed_hosts", into: &allowedHosts)
    for (index, host) in allowedHosts.enumerated() where !WebAddress.isHost(host) {
      reader.context.report(
        "\(reader.name("allowed_hosts")): \(host.quoted) is no host name alone",
        at: "\(reader.name("allowed_hosts"))[\(index)]"
      )
    }
    group = reader.optionalText("group")
    alert = reader.callbackID("alert")
    if let text = reader.text("history") {
      history =
        text == "keep" ? nil : reader.duration("history", in: .seconds(1)...Quantities.longest)
    }
    reader.read("crash_limit", into: &crashLimit, in: 0...1000)
    reader.finish()
  }
}

extension BrokerSettings.ListenAddress {
  fileprivate init?(_ text: String, of reader: TableReader) {
    guard !text.isEmpty else { return nil }
    guard let colon = text.lastIndex(of: ":"),
      let port = UInt16(text[text.index(after: colon)...]),
      let host = Self.host(text[..<colon])
    else {
      reader.report("listen", "\(text.quoted) is not HOST:PORT, as 127.0.0.1:7717 or [::1]:7717")
      return nil
    }
    self.init(host: host, port: port)
  }

  private static func host(_ text: Substring) -> String? {
    let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
    let host = isBracketed ? text.dropFirst().dropLast() : text
    let others = isBracketed ? ".:" : ".-"
    let allowed = host.utf8.allSatisfy { $0.isLetterOrDigit || others.utf8.contains($0) }
    return allowed && !host.isEmpty ? String(host) : nil
  }
}

extension LibrarySettings {
  init(from reader: TableReader) {
    self.init(path: reader.context.absolute("library"))
    reader.read("path", into: &path)
    if let text = reader.text("reserve") {
      if let reserve = Quantities.reserve(text) {
        self.reserve = reserve
      } else {
        reader.report(
          "reserve",
          "\(text.quoted) is neither a share, as \"5%\", nor a size, as \"10GB\""
        )
      }
    }
    if let text = reader.text("retention"), text != "keep" {
      retention = reader.duration("retention", in: .seconds(60)...Quantities.longest)
    }
    if reader.has("verify_every") { verifyEvery = nil }
    if reader.optionalText("verify_every") != nil {
      verifyEvery = reader.duration("verify_every", in: .seconds(3600)...Quantities.longest)
    }
    reader.finish()
  }
}
