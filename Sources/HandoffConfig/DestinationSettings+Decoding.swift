import HandoffCore
import HandoffProtocol
import Paths

extension DestinationSettings {
  /// Keys that mean something with some transports only.
  private static let transportsOfKeys: [(key: String, transports: Set<Transport>)] = [
    ("command", [.plugin, .exec, .url]),
    ("url", [.http, .url]),
    ("opener", [.url]),
    ("answer", [.http]),
    ("secret", [.http]),
    ("old_secret", [.http]),
    ("idempotent", [.http]),
    ("inbox", [.file]),
    ("containment", [.plugin, .exec]),
    ("network", [.plugin, .exec]),
    ("read", [.plugin, .exec]),
    ("write", [.plugin, .exec]),
    ("env", [.plugin, .exec, .url]),
    ("settings", [.plugin]),
  ]

  /// How long a result of a `url` receiver is waited for, where nothing else is configured.
  private static let urlCeiling: Duration = .seconds(3600)
  private static let longestURLCeiling: Duration = .seconds(86_400)

  init(name: DestinationName, from reader: TableReader) {
    self.init(name: name, transport: .plugin, command: [])
    if reader.has("transport") {
      reader.read("transport", into: &transport)
    } else {
      _ = reader.node("transport")
      reader.report("transport", "missing: plugin, exec, http, url or file")
    }
    readReceiver(from: reader)
    readTime(from: reader)
    readRules(from: reader)
    readContainment(from: reader)
    constraints = Constraints(from: reader.table("constraints"))
    settings = reader.plainValue("settings")
    for (key, transports) in Self.transportsOfKeys
    where reader.has(key) && !transports.contains(transport) {
      reader.report(key, "means nothing with transport \(transport.rawValue)")
    }
    reader.finish()
  }

  private mutating func readReceiver(from reader: TableReader) {
    command = reader.command("command")
    let opener = reader.has("opener") ? reader.command("opener") : ["xdg-open"]
    _ = reader.node("opener")
    url = reader.text("url")
    reader.read("answer", into: &answer)
    secret = SecretReference("secret", of: reader)
    oldSecret = SecretReference("old_secret", of: reader)
    reader.read("idempotent", into: &retry.repeatsUnknown)
    inbox = reader.optionalPath("inbox")
    switch transport {
    case .plugin, .exec:
      if !reader.has("command") { reader.report("command", "missing: which program serves it?") }
    case .http:
      if url == nil { reader.report("url", "missing: where do requests go?") }
      if let url, let fault = WebAddress.fault(url) ?? WebAddress.addition(to: url, ["#"]) {
        reader.report("url", fault)
      }
      if !reader.has("secret") { reader.report("secret", "missing: what signs the requests?") }
    case .url:
      if !reader.has("command") {
        command = opener
      } else if reader.has("opener") {
        reader.report("opener", "says the same as command: one of them is enough")
      }
      if url == nil { reader.report("url", "missing: which URL is opened?") }
      if let url, let fault = Self.faultOfScheme(url) { reader.report("url", fault) }
    case .file:
      if inbox == nil { reader.report("inbox", "missing: which folder takes the copies?") }
    }
  }

  /// What is wrong with the URL to which a request's members are added; nil if nothing is.
  ///
  /// A scheme that everybody's programs serve would carry the token to them.
  private static func faultOfScheme(_ url: String) -> String? {
    if let fault = WebAddress.fault(url, schemes: []) { return fault }
    guard let scheme = HandoffURL.scheme(of: url) else {
      return "only SCHEME://handoff, to which the request is added"
    }
    return ["http", "https", "ftp", "mailto"].contains(scheme)
      ? "a \(scheme) URL is not allowed: the scheme is the receiving program's own" : nil
  }

  private mutating func readTime(from reader: TableReader) {
    // The token of a url handoff is seen in an argument list, so it has to expire soon.
    if transport == .url { ceiling = Self.urlCeiling }
    reader.read("idle", into: &idle, in: .milliseconds(100)...Quantities.longest)
    reader.read("ceiling", into: &ceiling, in: .milliseconds(100)...Quantities.longest)
    if ceiling < idle {
      let longer = "ceiling is \(Quantities.text(ceiling)), idle is \(Quantities.text(idle))"
      reader.report(reader.has("ceiling") ? "ceiling" : "idle", "\(longer): it may not be shorter")
    }
    if transport == .url, ceiling > Self.longestURLCeiling {
      let longest = Quantities.text(Self.longestURLCeiling)
      reader.report("ceiling", "at most \(longest) with transport url, whose tokens expire soon")
    }
    let table = reader.table("retry")
    table.read("for", into: &retry.limit, in: .zero...Quantities.longest)
    table.read("first", into: &retry.first, in: .milliseconds(1)...Quantities.longest)
    table.read("max", into: &retry.maximum, in: .milliseconds(1)...Quantities.longest)
    if retry.maximum < retry.first {
      table.report(table.has("max") ? "max" : "first", "max may not be shorter than first")
    }
    table.finish()
  }

  private mutating func readRules(from reader: TableReader) {
    reader.read("concurrency", into: &concurrency, in: 1...1000)
    if let text = reader.optionalText("quota") {
      quota = Quantities.quota(text)
      if quota == nil {
        reader.report("quota", "\(text.quoted) is no quota: a number and a duration, as \"5/24h\"")
      }
    }
    reader.read("after", into: &after)
    let use = reader.text("use") ?? "original"
    rendition = RenditionName(use)
    if rendition == nil, use != "original" {
      let rule = "1 to 32 of a-z, 0-9, _ and -, beginning with a letter"
      reader.report("use", "\(use.quoted) is neither original nor a rendition's name: \(rule)")
    }
    reader.read("approval", into: &approval)
    reader.read("folders", into: &folders)
    readVersions(from: reader)
  }

  private mutating func readVersions(from reader: TableReader) {
    guard let node = reader.node("protocol_versions") else { return }
    guard case .array(let elements) = node.content, !elements.isEmpty else {
      reader.report("protocol_versions", "a list of versions is expected, as [1, 2, 3]")
      return
    }
    protocolVersions = elements.compactMap { element in
      guard case .integer(let version) = element.content,
        (1...Int64(HandoffRequest.currentVersion)).contains(version)
      else {
        let latest = HandoffRequest.currentVersion
        reader.context.report(
          "\(reader.name("protocol_versions")): each version is 1 to \(latest)",
          at: element.place
        )
        return nil
      }
      return Int(version)
    }
  }

  private mutating func readContainment(from reader: TableReader) {
    reader.read("containment", into: &containment)
    reader.read("network", into: &network)
    reader.read("read", into: &read)
    reader.read("write", into: &write)
    reader.read("env", into: &env)
    for (index, variable) in env.enumerated() where !SecretReference.isVariableName(variable) {
      reader.context.report(
        "\(reader.name("env")): \(variable.quoted) is no name of an environment variable",
        at: "\(reader.name("env"))[\(index)]"
      )
    }
  }
}

extension Constraints {
  fileprivate init(from reader: TableReader) {
    self.init()
    let durations: ClosedRange<Duration> = .zero...Quantities.longest
    minDuration = reader.duration("min_duration", in: durations).map { $0 / .seconds(1) }
    maxDuration = reader.duration("max_duration", in: durations).map { $0 / .seconds(1) }
    maxSize = reader.size("max_size")
    maxCount = reader.integer("max_count", in: 1...10_000)
    videoCodecs = reader.list("video_codecs")
    containers = reader.list("containers")
    maxWidth = reader.integer("max_width", in: 1...1_000_000)
    maxHeight = reader.integer("max_height", in: 1...1_000_000)
    if let minDuration, let maxDuration, minDuration > maxDuration {
      reader.report("min_duration", "longer than max_duration: nothing would be taken")
    }
    reader.finish()
  }
}
