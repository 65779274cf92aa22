import FoundationEssentials
import Testing

/// Which test reaches each code of the protocol, on which side.
@Suite("Error codes")
struct ErrorCodeTable {
  /// A test that reaches a code: its file below Tests, and its title.
  private struct Reach {
    var file: String
    var title: String

    static let checks = Reach(
      file: "IntegrationTests/Versions/ErrorCodeTests.swift",
      title:
        "what the sender's checks refuse has its code and side, in a dry run and when it is sent"
    )
    static let unmade = Reach(
      file: "IntegrationTests/Versions/ErrorCodeTests.swift",
      title: "what no handoff is made of is refused with its code at once"
    )
    static let said = Reach(
      file: "IntegrationTests/Versions/ErrorCodeTests.swift",
      title: "what a receiver says has its code and side, whatever the code is"
    )
    static let kitRequest = Reach(
      file: "HandoffPluginKitTests/SubmitTests.swift",
      title: "what is not a request of this version is refused with the protocol's code"
    )
    static let kitAsset = Reach(
      file: "HandoffPluginKitTests/OutcomeTests.swift",
      title: "an asset that the destination does not take is refused after it is resolved"
    )
    static let kitAnswer = Reach(
      file: "HandoffPluginKitTests/OutcomeTests.swift",
      title: "the broker's reason for refusing an asset reaches the result"
    )
    static let validation = Reach(
      file: "HandoffProtocolTests/ValidationTests.swift",
      title: "a request is checked for its version, its expiry and its count"
    )
    static let ledger = Reach(
      file: "LedgerTests/ResultTests.swift",
      title: "A token that was used is refused, also after a restart, and nothing changes"
    )
    static let foreign = Reach(
      file: "LedgerTests/ResultTests.swift",
      title: "A result from another destination, or with a made-up token, changes nothing"
    )
    static let exec = Reach(
      file: "DestinationsTests/ExecReceiverTests.swift",
      title: "says by its exit code how it ended"
    )
  }

  private static let table: [String: [Reach]] = [
    "access_limited": [.checks],
    "already_consumed": [.ledger],
    "already_handed_off": [.unmade],
    "asset_damaged": [
      Reach(
        file: "IntegrationTests/DamageTests.swift",
        title: "Case 70: an object with other bytes is never handed off, and the export dropped "
          + "again repairs it"
      )
    ],
    "asset_deleted": [.unmade],
    "asset_missing": [.unmade, .kitAnswer],
    "auth": [.said],
    "callback_unknown": [.unmade],
    "count_out_of_range": [.checks, .kitRequest, .validation],
    "dependency_failed": [
      Reach(
        file: "LedgerTests/DependencyTests.swift",
        title: "What waits ends as dependency_failed when what it waits for does not succeed"
      ),
      Reach(
        file: "IntegrationTests/RenditionTests.swift",
        title: "what would wait in vain is refused at once, and what waited in vain has its reason"
      ),
    ],
    "destination_unavailable": [
      Reach(
        file: "DestinationsTests/ExecReceiverTests.swift",
        title: "that is not there has no effect and is tried later"
      )
    ],
    "destination_unknown": [.unmade],
    "duration_out_of_range": [.checks, .kitAsset],
    "expired": [.unmade, .validation],
    "interrupted": [
      Reach(
        file: "DestinationsTests/ExecReceiverTests.swift",
        title: "can clean up at SIGTERM when it is cancelled"
      )
    ],
    "key_reused": [.unmade],
    "library_unavailable": [
      Reach(
        file: "IntegrationTests/ResolvingTests.swift",
        title: "damaged and missing objects, and a library that is away"
      )
    ],
    "malformed_request": [.unmade, .kitRequest],
    "malformed_result": [
      Reach(
        file: "IntegrationTests/Versions/VersionMatrixTests.swift",
        title: "Case 94: a plugin of other versions is settled at discover, and nothing waits in "
          + "silence"
      )
    ],
    "network": [.said],
    "no_space": [
      Reach(
        file: "IntegrationTests/RegisteringTests.swift",
        title: "what a receiver may not register is refused with the reason, and nothing is kept"
      )
    ],
    "not_configured": [.said],
    "quota": [.said],
    "receiver_crashed": [.exec],
    "receiver_failed": [.said],
    "receiver_timeout": [
      Reach(
        file: "DestinationsTests/ExecReceiverTests.swift",
        title: "that is silent for its idle time is ended"
      )
    ],
    "size_out_of_range": [.checks, .kitAsset],
    "superseded": [
      Reach(
        file: "IntegrationTests/SupersedingTests.swift",
        title: "replace: the older one is not sent any more, and the newer one is"
      )
    ],
    "unknown_state": [.foreign],
    "unsupported_media": [.checks, .kitAsset],
    "version_incompatible": [.checks, .kitRequest],
    "wrong_destination": [.foreign],
  ]

  /// The codes that DESIGN.md lists; there may be more.
  private static let ofDesign = """
    asset_missing asset_deleted asset_damaged library_unavailable dependency_failed access_limited \
    unsupported_media duration_out_of_range size_out_of_range count_out_of_range destination_unknown \
    destination_unavailable version_incompatible callback_unknown malformed_request malformed_result \
    receiver_crashed receiver_timeout interrupted auth quota network not_configured already_consumed \
    unknown_state wrong_destination expired
    """

  @Test("each code is known, described for implementers, and reached by a test that is there")
  func everyCode() throws {
    let source = try text(of: "Sources/HandoffProtocol/ErrorCode.swift")
    let codes = source.split(separator: "ErrorCode(\"").dropFirst().compactMap {
      $0.split(separator: "\"").first.map(String.init)
    }
    let page = try text(of: "Sources/HandoffService/HandoffService.docc/Protocol.md")
    #expect(Set(Self.ofDesign.split(separator: " ").map(String.init)).isSubset(of: Set(codes)))
    #expect(Set(codes).count == codes.count)
    #expect(Set(Self.table.keys) == Set(codes), "the table and the codes differ")
    for code in codes {
      #expect(page.contains("| `\(code)` |"), "\(code) is not in Protocol.md")
      let reaches = Self.table[code] ?? []
      #expect(!reaches.isEmpty, "no test reaches \(code)")
      for reach in reaches {
        let test = try text(of: "Tests/\(reach.file)")
        let title = reach.title.replacing("\"", with: "\\\"")
        #expect(test.contains("\"\(title)\""), "\(reach.file) has no test \(reach.title)")
        #expect(
          test.contains(Self.member(code)) || test.contains(code),
          "\(reach.file) does not name \(code)"
        )
      }
    }
  }

  private func text(of path: String) throws -> String {
    String(decoding: try Data(contentsOf: Project.root.appending(path: path)), as: UTF8.self)
  }

  /// `asset_missing` as the static member is named.
  private static func member(_ code: String) -> String {
    let words = code.split(separator: "_")
    return words.prefix(1).joined()
      + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }
}
