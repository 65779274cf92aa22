// swift-tools-version: 6.2
import PackageDescription

// MARK: Settings

/// Warnings are errors unless somebody builds an old release with a newer compiler.
let lenient = Context.environment["HANDOFF_LENIENT"] != nil

let settings: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    // A release carries its Swift runtime: nothing of the toolchain is needed where it runs, and a
    // contained plugin needs no more of the system than libc.
    .unsafeFlags(["-static-stdlib"], .when(configuration: .release)),
  ] + (lenient ? [] : [.treatAllWarnings(as: .error)])

let linking: [LinkerSetting] = [
  .unsafeFlags(["-static-stdlib"], .when(configuration: .release))
]

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// A target under the MIT licence: what other people's programs link, and what that stands on.
func openLibrary(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, exclude: ["LICENSE"], swiftSettings: settings)
}

func program(
  _ name: String,
  _ dependencies: [Target.Dependency],
  path: String? = nil
) -> Target {
  .executableTarget(
    name: name,
    dependencies: dependencies,
    path: path,
    swiftSettings: settings,
    linkerSettings: linking
  )
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(
    name: name,
    dependencies: dependencies + ["HandoffTestSupport"],
    swiftSettings: settings
  )
}

// MARK: C libraries, each imported by exactly one Swift target

let cTargets: [Target] = [
  .systemLibrary(name: "CAVFormat", pkgConfig: "libavformat libavcodec libavutil"),
  .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),
  .systemLibrary(name: "CGcrypt"),
  .systemLibrary(name: "CInotifyTools"),
  .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd"),
  .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
  .systemLibrary(name: "CXXHash", pkgConfig: "libxxhash"),
  .target(name: "COptions"),
  .target(name: "CLinux", exclude: ["LICENSE"]),
  .target(
    name: "CTOML",
    cxxSettings: [.define("TOML_HEADER_ONLY", to: "0"), .define("TOML_SHARED_LIB", to: "1")],
    linkerSettings: [.linkedLibrary("tomlplusplus")]
  ),
]

// MARK: Pure: no input or output, no clock

let pureTargets: [Target] = [
  library("ContainerChecks"),
  library("HandoffCore", ["HandoffProtocol", "Paths"]),
  openLibrary("HandoffProtocol", ["Paths"]),
  openLibrary("Paths"),
]

// MARK: Without domain, for adapters

let foundationTargets: [Target] = [
  openLibrary("Digests", ["CGcrypt"]),
  library("HTTPServer", ["CMicroHTTPD", "LinuxSystem"]),
  library("HandoffLog", ["Paths"]),
  openLibrary("HTTPClient", ["CCurl", "LinuxSystem", "Paths"]),
  openLibrary("LinuxSystem", ["CLinux", "Paths"]),
  library("SQLite", ["CSQLite", "LinuxSystem", "Paths"]),
]

// MARK: The protocol over a socket, and signed messages over HTTP, for both sides

let wireTargets: [Target] = [
  openLibrary("HandoffWire", ["HandoffProtocol", "LinuxSystem"]),
  openLibrary("Webhooks", ["Digests", "HandoffProtocol"]),
]

// MARK: Adapters, which do not know each other

let adapterTargets: [Target] = [
  library(
    "AssetLibrary",
    ["Digests", "HandoffCore", "HandoffLog", "HandoffProtocol", "LinuxSystem", "Paths"]
  ),
  library(
    "Callbacks",
    [
      "HandoffCore", "HandoffLog", "HandoffProtocol", "HTTPClient", "LinuxSystem", "Paths",
      "Webhooks",
    ]
  ),
  library(
    "Conformance",
    ["Digests", "HandoffProtocol", "HandoffWire", "LinuxSystem", "Paths"]
  ),
  library(
    "Destinations",
    [
      "Digests", "HandoffCore", "HandoffLog", "HandoffProtocol", "HandoffWire", "HTTPClient",
      "LinuxSystem", "Paths", "Webhooks",
    ]
  ),
  library(
    "DropFolders",
    ["CInotifyTools", "HandoffCore", "HandoffLog", "HandoffProtocol", "LinuxSystem", "Paths"]
  ),
  library(
    "HandoffAPI",
    [
      "HTTPServer", "HandoffCore", "HandoffLog", "HandoffProtocol", "LinuxSystem", "Paths",
      "Webhooks",
    ]
  ),
  library("HandoffConfig", ["CTOML", "HandoffCore", "HandoffProtocol", "Paths"]),
  library(
    "HandoffControl",
    ["HandoffCore", "HandoffLog", "HandoffProtocol", "HandoffWire", "LinuxSystem", "Paths"]
  ),
  library(
    "Ledger",
    ["Digests", "HandoffCore", "HandoffLog", "HandoffProtocol", "LinuxSystem", "Paths", "SQLite"]
  ),
  library(
    "MediaProbe",
    ["HandoffCore", "HandoffLog", "HandoffProtocol", "LinuxSystem", "Paths"]
  ),
]

// MARK: The composer and the programs

let programTargets: [Target] = [
  program(
    "handoff",
    [
      "COptions", "Conformance", "HandoffConfig", "HandoffControl", "HandoffCore", "HandoffLog",
      "HandoffProtocol", "HandoffService", "LinuxSystem", "MastodonStandIn", "Paths",
    ]
  ),
  program(
    "handoff-probe",
    ["CAVFormat", "ContainerChecks", "HandoffCore", "HandoffProtocol", "LinuxSystem", "Paths"]
  ),
  library(
    "HandoffService",
    [
      "AssetLibrary", "Callbacks", "Destinations", "DropFolders", "HandoffAPI", "HandoffConfig",
      "HandoffControl", "HandoffCore", "HandoffLog", "HandoffProtocol", "Ledger",
      "LinuxSystem", "MediaProbe", "Paths", "Webhooks",
    ]
  ),
]

// MARK: For senders and receivers

let senderTargets: [Target] = [
  openLibrary("HandoffClient", ["HandoffProtocol", "HandoffWire", "LinuxSystem", "Paths"])
]

let receiverTargets: [Target] = [
  openLibrary(
    "HandoffPluginKit",
    ["Digests", "HandoffProtocol", "HandoffWire", "LinuxSystem", "Paths"]
  ),
  program(
    "handoff-archive",
    ["CXXHash", "Digests", "HandoffPluginKit", "HandoffProtocol", "LinuxSystem", "Paths"],
    path: "Plugins/archive"
  ),
  program(
    "handoff-preview",
    ["Digests", "HandoffPluginKit", "HandoffProtocol", "LinuxSystem", "Paths"],
    path: "Plugins/preview"
  ),
  program(
    "handoff-social",
    ["Digests", "HandoffPluginKit", "HandoffProtocol", "HTTPClient", "LinuxSystem", "Paths"],
    path: "Plugins/social"
  ),
]

// MARK: For the demo and the tests

let standInTargets: [Target] = [
  library("MastodonStandIn", ["Digests", "HTTPServer", "HandoffProtocol", "LinuxSystem"])
]

// MARK: Tests

func fixture(_ name: String, _ dependencies: [Target.Dependency], path: String) -> Target {
  .executableTarget(
    name: name,
    dependencies: dependencies,
    path: path,
    swiftSettings: settings,
    linkerSettings: linking
  )
}

let testTargets: [Target] = [
  .executableTarget(
    name: "counting-receiver",
    dependencies: ["HandoffPluginKit", "HandoffProtocol", "LinuxSystem", "Paths"],
    path: "Tests/Fixtures/CountingReceiver",
    swiftSettings: settings,
    // Run contained from the release build, as a shipped plugin is.
    linkerSettings: linking
  ),
  fixture(
    "export-writer",
    ["Digests", "HandoffProtocol", "HandoffTestSupport", "LinuxSystem", "Paths"],
    path: "Tests/Fixtures/ExportWriter"
  ),
  fixture(
    "box-sender",
    ["HandoffClient", "HandoffProtocol"],
    path: "Tests/Fixtures/BoxSender"
  ),
  fixture("hostile-receiver", ["LinuxSystem", "Paths"], path: "Tests/Fixtures/HostileReceiver"),
  fixture(
    "shelf-receiver",
    ["HandoffPluginKit", "HandoffProtocol", "Paths"],
    path: "Tests/Fixtures/ShelfReceiver"
  ),
  fixture(
    "watch-fixture",
    [
      "Digests", "DropFolders", "HandoffCore", "HandoffLog", "HandoffProtocol", "LinuxSystem",
      "Paths",
    ],
    path: "Tests/Fixtures/WatchFixture"
  ),
  fixture(
    "handoff-bench",
    [
      "AssetLibrary", "Digests", "DropFolders", "HandoffCore", "HandoffLog", "HandoffProtocol",
      "HandoffTestSupport", "Ledger", "LinuxSystem", "Paths",
    ],
    path: "Tests/Benchmarks"
  ),
  library("HandoffTestSupport", ["HandoffProtocol", "HandoffWire", "LinuxSystem", "Paths"]),
  tests(
    "AssetLibraryTests",
    [
      "AssetLibrary", "Digests", "HandoffCore", "HandoffLog", "HandoffProtocol", "LinuxSystem",
      "Paths",
    ]
  ),
  tests(
    "CallbacksTests",
    [
      "Callbacks", "HandoffCore", "HandoffLog", "HandoffProtocol", "LinuxSystem", "Paths",
      "Webhooks",
    ]
  ),
  tests(
    "ConformanceTests",
    [
      "Conformance", "Digests", "HandoffProtocol", "LinuxSystem", "MastodonStandIn", "Paths",
      "handoff-archive", "handoff-preview", "handoff-social", "shelf-receiver",
    ]
  ),
  tests("ContainerChecksTests", ["ContainerChecks"]),
  tests(
    "DestinationsTests",
    [
      "Destinations", "Digests", "HandoffCore", "HandoffLog", "HandoffProtocol", "HandoffWire",
      "HTTPClient", "LinuxSystem", "Paths", "Webhooks", "hostile-receiver",
    ]
  ),
  tests("DigestsTests", ["Digests"]),
  tests(
    "DropFoldersTests",
    [
      "DropFolders", "HandoffCore", "HandoffLog", "HandoffProtocol", "LinuxSystem", "Paths",
      "watch-fixture",
    ]
  ),
  tests("FuzzTests", ["FuzzTargets"]),
  tests("HTTPServerTests", ["HTTPServer", "LinuxSystem", "Paths"]),
  tests(
    "HandoffAPITests",
    [
      "HTTPClient", "HandoffAPI", "HandoffCore", "HandoffLog", "HandoffProtocol", "LinuxSystem",
      "Paths", "Webhooks",
    ]
  ),
  tests(
    "HandoffClientTests",
    ["HandoffClient", "HandoffProtocol", "HandoffWire", "LinuxSystem", "Paths"]
  ),
  tests("HandoffConfigTests", ["HandoffConfig", "HandoffCore", "HandoffProtocol", "Paths"]),
  tests("HandoffCoreTests", ["HandoffCore", "HandoffProtocol", "Paths"]),
  tests(
    "HandoffPluginKitTests",
    ["HandoffPluginKit", "HandoffProtocol", "HandoffWire", "LinuxSystem", "Paths"]
  ),
  tests("HandoffProtocolTests", ["HandoffProtocol"]),
  tests("HTTPClientTests", ["HTTPClient", "LinuxSystem", "Paths"]),
  tests(
    "IntegrationTests",
    [
      "Digests", "HTTPClient", "HandoffClient", "HandoffCore", "HandoffLog", "HandoffProtocol",
      "HandoffWire", "Ledger", "LinuxSystem", "Paths", "SQLite", "Webhooks", "box-sender",
      "export-writer",
    ]
  ),
  tests(
    "LedgerTests",
    [
      "Digests", "HandoffCore", "HandoffLog", "HandoffProtocol", "Ledger", "LinuxSystem", "Paths",
      "SQLite",
    ]
  ),
  tests("LinuxSystemTests", ["HandoffProtocol", "HandoffWire", "LinuxSystem", "Paths"]),
  tests(
    "MediaProbeTests",
    [
      "HandoffCore", "HandoffLog", "HandoffProtocol", "LinuxSystem", "MediaProbe", "Paths",
      "handoff-probe",
    ]
  ),
  tests("PathsTests", ["Paths"]),
  tests(
    "PluginTests",
    [
      "Digests", "HandoffProtocol", "HandoffWire", "LinuxSystem", "MastodonStandIn", "Paths",
      "handoff-archive", "handoff-preview", "handoff-social",
    ]
  ),
  tests("SQLiteTests", ["LinuxSystem", "Paths", "SQLite"]),
  tests("StyleTests", []),
  tests("WebhooksTests", ["HandoffProtocol", "Webhooks"]),
]

// MARK: Fuzzing: the targets are tested with the rest, the driver is built by `make fuzz`

let fuzzTargets: [Target] =
  [
    .target(
      name: "FuzzTargets",
      dependencies: [
        "AssetLibrary", "ContainerChecks", "HTTPServer", "HandoffConfig", "HandoffCore",
        "HandoffProtocol", "Paths", "Webhooks",
      ],
      path: "Tests/Fuzz/Targets",
      swiftSettings: settings
    )
  ]
  + (Context.environment["HANDOFF_FUZZ"] == nil
    ? []
    : [
      fixture("handoff-fuzz", ["FuzzTargets"], path: "Tests/Fuzz/Driver")
    ])

let package = Package(
  name: "handoff",
  products: [
    .executable(name: "handoff", targets: ["handoff"]),
    .library(name: "HandoffClient", targets: ["HandoffClient"]),
    .library(
      name: "HandoffPluginKit",
      targets: ["HandoffPluginKit", "HandoffProtocol", "Paths"]
    ),
    .library(name: "HandoffProtocol", targets: ["HandoffProtocol"]),
    .library(name: "Webhooks", targets: ["Webhooks"]),
  ],
  targets: cTargets + pureTargets + foundationTargets + wireTargets + adapterTargets
    + programTargets + senderTargets + receiverTargets + standInTargets + testTargets
    + fuzzTargets,
)
