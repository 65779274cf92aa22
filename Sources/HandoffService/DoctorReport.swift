/// What `handoff doctor` found, as `--json` shows it.
package struct DoctorReport: Encodable, Sendable {
  /// How one thing stands.
  package enum Standing: String, Encodable, Sendable {
    case ok
    /// It works, but less well than it could, or it could not be looked at.
    case warning
    /// Something that is configured cannot work.
    case problem
  }

  /// One thing that was looked at.
  package struct Line: Encodable, Sendable {
    /// The name of the check.
    package var check = ""
    package let standing: Standing
    /// One sentence.
    package let text: String
    /// What to do about it; null where nothing is to be done.
    package let remedy: String?

    static func ok(_ text: String) -> Line { Line(standing: .ok, text: text, remedy: nil) }

    static func warning(_ text: String, mend remedy: String) -> Line {
      Line(standing: .warning, text: text, remedy: remedy)
    }

    static func problem(_ text: String, mend remedy: String) -> Line {
      Line(standing: .problem, text: text, remedy: remedy)
    }

    private enum CodingKeys: String, CodingKey {
      case check
      case standing
      case text
      case remedy
    }

    package func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(check, forKey: .check)
      try container.encode(standing, forKey: .standing)
      try container.encode(text, forKey: .text)
      try container.encode(remedy, forKey: .remedy)
    }
  }

  package let checks: [Line]

  /// Something that is configured cannot work.
  package var hasProblem: Bool { checks.contains { $0.standing == .problem } }
}
