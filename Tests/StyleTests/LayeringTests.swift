import Testing

@Suite("Layers")
struct LayeringTests {
  @Test("every import is one that the graph has")
  func imports() throws {
    let files = try Project.files(in: ["Plugins", "Sources"], extensions: ["swift"])
    #expect(files.count > 50)
    #expect(Layers.project.violations(in: files) == [])
  }

  @Test("every folder is a target of the graph")
  func folders() throws {
    let known = Set(Layers.project.targets.map(\.folder))
    let sources = try Project.folders(in: "Sources").filter { !Layers.cFolders.contains($0) }
    #expect(Set(sources.map { "Sources/\($0)" }).subtracting(known) == [])
    #expect(
      Set(try Project.folders(in: "Plugins").map { "Plugins/\($0)" }).subtracting(known) == []
    )
  }

  @Test("adapters do not know each other")
  func adapters() {
    let names =
      Layers.adapters.map { String($0.folder.dropFirst("Sources/".count)) } + ["HandoffConfig"]
    for adapter in Layers.adapters {
      #expect(adapter.modules.isDisjoint(with: names), "\(adapter.folder)")
    }
  }

  @Test("what is pure knows neither the system nor Foundation")
  func pure() {
    for target in Layers.pure {
      #expect(target.system.isSubset(of: ["FoundationEssentials"]), "\(target.folder)")
      #expect(target.modules.isDisjoint(with: ["LinuxSystem", "SQLite", "HandoffLog", "Digests"]))
    }
  }

  @Test("nobody knows Foundation, and two know Dispatch")
  func systemModules() {
    let targets = Layers.project.targets
    #expect(targets.allSatisfy { !$0.system.contains("Foundation") })
    #expect(
      targets.filter { $0.system.contains("Dispatch") }.map(\.folder)
        == ["Sources/LinuxSystem", "Sources/SQLite"]
    )
  }

  @Test("each C library is known to one target")
  func cLibraries() throws {
    for module in Layers.cFolders {
      let users = Layers.project.targets.filter { $0.modules.contains(module) }
      #expect(users.count == 1, "\(module)")
    }
    let folders = try Project.folders(in: "Sources").filter { name in
      name.hasPrefix("C") && name.dropFirst().first?.isUppercase == true
    }
    #expect(Set(folders) == Layers.cFolders)
  }

  @Test("the graph is one-way")
  func oneWay() {
    let modules = Dictionary(
      Layers.project.targets.map { (String($0.folder.split(separator: "/")[1]), $0.modules) }
    ) { first, _ in first }
    for name in modules.keys {
      var reached: Set<String> = []
      var waiting = Array(modules[name] ?? [])
      while let next = waiting.popLast() {
        if reached.insert(next).inserted { waiting += modules[next] ?? [] }
      }
      #expect(!reached.contains(name), "\(name)")
    }
  }

  @Test(
    "a violation is found, however the import is written",
    arguments: [
      ("Sources/Ledger/A.swift", "import Destinations", "Destinations"),
      (
        "Sources/Ledger/A.swift", "// a\n  @preconcurrency package import DropFolders",
        "DropFolders"
      ),
      ("Sources/HandoffCore/A.swift", "import Glibc", "Glibc"),
      ("Sources/HandoffCore/A.swift", "import struct Foundation.Date", "Foundation"),
      ("Sources/HandoffProtocol/A.swift", "import Dispatch", "Dispatch"),
      ("Sources/HandoffConfig/A.swift", "import LinuxSystem", "LinuxSystem"),
      ("Sources/Destinations/A.swift", "@_implementationOnly import CSQLite", "CSQLite"),
      ("Sources/AssetLibrary/A.swift", "public import Foundation", "Foundation"),
      ("Plugins/archive/A.swift", "import HandoffCore", "HandoffCore"),
    ]
  )
  func violations(path: String, text: String, module: String) {
    let found = Layers.project.violations(in: [SourceFile(path: path, text: text)])
    #expect(found.count == 1)
    #expect(found.first?.hasSuffix("may not import \(module)") == true)
  }

  @Test("what is no import is not taken for one")
  func noImports() {
    let text = """
      // import Foundation
      /* import Foundation
         import Dispatch */
      let text = "import Foundation"
      let long = \"\"\"
        import Glibc
        \"\"\"
      let raw = #"\\" import Dispatch"#
      func `import`() {}
      import Paths // import Foundation
      """
    let file = SourceFile(path: "Sources/HandoffCore/A.swift", text: text)
    #expect(file.imports.map(\.module) == ["Paths"])
    #expect(file.imports.map(\.number) == [10])
    #expect(Layers.project.violations(in: [file]) == [])
  }

  @Test("a file outside the graph is a violation")
  func unknownTarget() {
    let file = SourceFile(path: "Sources/Elsewhere/A.swift", text: "")
    #expect(
      Layers.project.violations(in: [file]) == [
        "Sources/Elsewhere/A.swift:1: no target of the graph"
      ]
    )
  }
}
