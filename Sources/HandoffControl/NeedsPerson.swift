/// Something that only a person can carry on, as `status` lists it.
package enum NeedsPerson: Codable, Sendable {
  case handoff(HandoffReport)
  /// Given up.
  case notice(NoticeReport)
  /// Its handoffs wait.
  case destination(StopReport)

  /// Notices and stopped destinations have a kind, and a handoff none.
  private enum CodingKeys: String, CodingKey {
    case kind
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    switch try container.decodeIfPresent(String.self, forKey: .kind) {
    case nil: self = .handoff(try HandoffReport(from: decoder))
    case StopReport.kind: self = .destination(try StopReport(from: decoder))
    case .some: self = .notice(try NoticeReport(from: decoder))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    switch self {
    case .handoff(let report): try report.encode(to: encoder)
    case .notice(let report): try report.encode(to: encoder)
    case .destination(let report): try report.encode(to: encoder)
    }
  }
}
