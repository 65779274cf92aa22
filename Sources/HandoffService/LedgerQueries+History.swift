package import HandoffControl
package import HandoffCore
package import HandoffProtocol
import Ledger

/// The history of an asset or handoff: the events of the chain, and beside them what has no event of its
/// own (notices that were told, handoffs that were pruned).
extension LedgerQueries {
  /// What happened to a handoff, in order, from the first byte of its assets; none where there is no such
  /// handoff.
  package func history(of id: Handoff.ID) async throws -> [EventReport] {
    guard let ledger else { return [] }
    var reports = try await ledger.history(of: id).flatMap(EventReport.all)
    guard !reports.isEmpty else { return [] }
    for identifier in try await ledger.handoff(id)?.localIdentifiers ?? [] {
      reports += try await ledger.history(of: identifier).filter { $0.handoff == nil }
        .flatMap(EventReport.all)
    }
    reports += try await told(of: [id], ledger)
    return Self.inOrder(reports)
  }

  /// What happened to an asset and its handoffs, in order; none where there is no such asset.
  package func history(of identifier: LocalIdentifier) async throws -> [EventReport] {
    guard let ledger else { return [] }
    let events = try await ledger.history(of: identifier)
    guard !events.isEmpty else { return [] }
    let past = try await ledger.pastHandoffs(ofAsset: identifier).map { past in
      var report = EventReport(sequence: 0, at: past.finishedAt, event: "ended")
      report.handoffID = past.id.description
      report.localIdentifier = identifier
      report.destination = past.destination
      report.to = past.status.rawValue
      report.detail = "its history was pruned"
      return report
    }
    let notices = try await told(
      of: Set(events.compactMap(\.handoff)).sorted { $0.row < $1.row },
      ledger
    )
    return Self.inOrder(events.flatMap(EventReport.all) + past + notices)
  }

  /// Notices about handoffs that have arrived, or were given up.
  private func told(of ids: [Handoff.ID], _ ledger: LedgerReader) async throws -> [EventReport] {
    var reports: [EventReport] = []
    for id in ids {
      for notice in try await ledger.notices(of: id) {
        guard let finished = notice.finishedAt else { continue }
        var report = EventReport(
          sequence: 0,
          at: finished,
          event: "notice_\(notice.state.rawValue)"
        )
        report.handoffID = id.description
        report.attempt = notice.attempts
        report.detail = "to \(notice.callback)" + (notice.error.map { ": \($0)" } ?? "")
        reports.append(report)
      }
    }
    return reports
  }

  /// By time; what the chain has keeps the chain's order where the clock was set back.
  private static func inOrder(_ reports: [EventReport]) -> [EventReport] {
    var chained = reports.filter { $0.sequence > 0 }
    chained.sort { $0.sequence < $1.sequence }
    for report in reports.filter({ $0.sequence == 0 }).sorted(by: { $0.at < $1.at }) {
      let place = chained.firstIndex { $0.at > report.at } ?? chained.endIndex
      chained.insert(report, at: place)
    }
    return chained
  }
}

extension EventReport {
  /// An event as reports: of an import also when the file was first seen, and when it was proven finished.
  fileprivate static func all(_ event: LedgerEvent) -> [EventReport] {
    var report = EventReport(event)
    guard let facts = facts(in: event.detail) else { return [report] }
    report.facts = facts
    report.detail = sentence(facts)
    var earlier: [EventReport] = []
    if let seen = moment("first_seen_at", facts) {
      var first = EventReport(sequence: event.sequence, at: seen, event: "first_seen")
      first.localIdentifier = event.asset
      first.detail = facts["path"]?.text
      earlier.append(first)
    }
    if let settled = moment("settled_at", facts) {
      var proven = EventReport(sequence: event.sequence, at: settled, event: "settled")
      proven.localIdentifier = event.asset
      proven.detail = (facts["no_writer"]?.text).map { "\($0); " } ?? ""
      if case .array(let checks)? = facts["proof"] {
        proven.detail? += "passed: " + checks.compactMap(\.text).joined(separator: ", ")
      }
      earlier.append(proven)
    }
    return earlier + [report]
  }

  /// What an event tells by names; nil where it has a sentence.
  private static func facts(in detail: String?) -> JSONValue? {
    guard let detail, detail.first == "{" else { return nil }
    do {
      return try WireCoder.decode(JSONValue.self, from: Array(detail.utf8))
    } catch {
      // A sentence may begin like that, too: then it is shown as it is.
      return nil
    }
  }

  private static func moment(_ name: String, _ facts: JSONValue) -> Timestamp? {
    facts[name]?.text.flatMap { Timestamp(rfc3339: $0) }
  }

  private static func sentence(_ facts: JSONValue) -> String {
    if case .array(let given)? = facts["given"] {
      return given.map { rendition in
        let name = rendition["name"]?.text ?? ""
        return "given the rendition \(name), \(rendition["sha256"]?.text ?? "")"
      }.joined(separator: "; ")
    }
    let size = facts["bytes"]?.integer.map { "\($0) bytes" } ?? "bytes"
    let sidecar = facts["sidecar"]?.text.map { ", with the sidecar \($0)" } ?? ""
    let how = facts["how"]?.text ?? "taken"
    let original = facts["original"]?.text ?? "keep"
    return "\(size) of \(facts["path"]?.text ?? "") \(how)\(sidecar); original: \(original)"
  }

  private init(_ event: LedgerEvent) {
    self.init(sequence: event.sequence, at: event.at, event: event.kind)
    handoffID = event.handoff?.description
    localIdentifier = event.asset
    destination = event.destination
    from = event.from?.rawValue
    to = event.to?.rawValue
    attempt = event.attempt
    detail = event.detail
  }
}
