/// What each target may import: the one-way graph of the project, as Package.swift declares it.
///
/// SwiftPM lets a target import what it reaches through another, so the graph is checked here.
struct Layers: Sendable {
  struct Target: Sendable {
    var folder: String
    /// Modules of this project.
    var modules: Set<String>
    /// Modules of the toolchain.
    var system: Set<String>

    init(_ folder: String, _ modules: Set<String>, system: Set<String> = []) {
      self.folder = folder
      self.modules = modules
      self.system = system
    }
  }

  var targets: [Target]

  /// No input or output and no clock: nothing of the system, and of Foundation only what is pure.
  static let pure = [
    Target("Sources/ContainerChecks", []),
    Target("Sources/HandoffConfig", ["CTOML", "HandoffCore", "HandoffProtocol", "Paths"]),
    Target("Sources/HandoffCore", ["HandoffProtocol", "Paths"], system: [essentials]),
    Target("Sources/HandoffProtocol", ["Paths"], system: [essentials]),
    Target("Sources/Paths", []),
  ]

  /// Know the system and nothing of handoffs.
  static let foundations = [
    Target("Sources/Digests", ["CGcrypt"], system: system),
    Target("Sources/HTTPServer", ["CMicroHTTPD", "LinuxSystem"], system: system),
    Target("Sources/HandoffLog", ["Paths"], system: system),
    Target("Sources/HTTPClient", ["CCurl", "LinuxSystem", "Paths"], system: system),
    Target("Sources/LinuxSystem", ["CLinux", "Paths"], system: system.union(["Dispatch"])),
    Target(
      "Sources/SQLite",
      ["CSQLite", "LinuxSystem", "Paths"],
      system: system.union(["Dispatch"])
    ),
    Target("Sources/HandoffWire", ["HandoffProtocol", "LinuxSystem", "Paths"], system: system),
    Target("Sources/Webhooks", ["Digests", "HandoffProtocol"], system: system),
  ]

  /// Do not know each other.
  static let adapters = [
    Target("Sources/AssetLibrary", domain.union(["Digests"]), system: system),
    Target("Sources/Callbacks", domain.union(["HTTPClient", "Webhooks"]), system: system),
    Target("Sources/Conformance", kit.union(["Digests", "HandoffWire"]), system: system),
    Target(
      "Sources/Destinations",
      domain.union(["Digests", "HTTPClient", "HandoffWire", "Webhooks"]),
      system: system
    ),
    Target("Sources/DropFolders", domain.union(["CInotifyTools"]), system: system),
    Target("Sources/HandoffAPI", domain.union(["HTTPServer", "Webhooks"]), system: system),
    Target("Sources/HandoffControl", domain.union(["HandoffWire"]), system: system),
    Target("Sources/Ledger", domain.union(["Digests", "SQLite"]), system: system),
    Target("Sources/MediaProbe", domain, system: system),
  ]

  /// Compose, and are thin.
  static let programs = [
    Target(
      "Sources/HandoffService",
      domain.union([
        "AssetLibrary", "Callbacks", "Destinations", "DropFolders", "HandoffAPI",
        "HandoffConfig", "HandoffControl", "Ledger", "MediaProbe", "Webhooks",
      ]),
      system: system
    ),
    Target(
      "Sources/handoff",
      domain.union([
        "COptions", "Conformance", "HandoffConfig", "HandoffControl", "HandoffService",
        "MastodonStandIn",
      ]),
      system: system
    ),
    Target(
      "Sources/handoff-probe",
      ["CAVFormat", "ContainerChecks", "HandoffCore", "HandoffProtocol", "LinuxSystem", "Paths"],
      system: system
    ),
  ]

  /// Linked by other people's programs, or examples for them.
  static let receivers = [
    Target("Sources/HandoffClient", kit.union(["HandoffWire"]), system: system),
    Target("Sources/HandoffPluginKit", kit.union(["Digests", "HandoffWire"]), system: system),
    Target(
      "Plugins/archive",
      kit.union(["CXXHash", "Digests", "HandoffPluginKit"]),
      system: system
    ),
    Target("Plugins/preview", kit.union(["Digests", "HandoffPluginKit"]), system: system),
    Target(
      "Plugins/social",
      kit.union(["Digests", "HandoffPluginKit", "HTTPClient"]),
      system: system
    ),
  ]

  /// For the demo and the tests.
  static let standIns = [
    Target(
      "Sources/MastodonStandIn",
      ["Digests", "HTTPServer", "HandoffProtocol", "LinuxSystem", "Paths"],
      system: system
    ),
    Target("Sources/HandoffTestSupport", kit.union(["HandoffWire"]), system: system),
  ]

  /// Wrap a C library; they hold no Swift.
  static let cFolders: Set<String> = [
    "CAVFormat", "CCurl", "CGcrypt", "CInotifyTools", "CLinux", "CMicroHTTPD", "COptions",
    "CSQLite", "CTOML", "CXXHash",
  ]

  static let project = Layers(
    targets: pure + foundations + adapters + programs + receivers + standIns
  )

  /// The imports that the graph does not have, as `FILE:LINE: sentence`.
  func violations(in files: [SourceFile]) -> [String] {
    files.flatMap { file -> [String] in
      guard let target = targets.first(where: { file.path.hasPrefix($0.folder + "/") }) else {
        return ["\(file.path):1: no target of the graph"]
      }
      return file.imports.compactMap { number, module in
        let isAllowed = target.modules.contains(module) || target.system.contains(module)
        return isAllowed ? nil : "\(file.path):\(number): \(target.folder) may not import \(module)"
      }
    }
  }

  private static let essentials = "FoundationEssentials"
  private static let system: Set<String> = [essentials, "Glibc", "Synchronization"]
  private static let kit: Set<String> = ["HandoffProtocol", "LinuxSystem", "Paths"]
  private static let domain = kit.union(["HandoffCore", "HandoffLog"])
}
