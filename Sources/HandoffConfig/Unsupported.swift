import HandoffCore
import HandoffProtocol
import Paths

extension ConfigurationDraft {
  /// What is asked for and not built yet; each part of the work removes its lines here.
  func unsupportedProblems(in context: DecodingContext) -> [ConfigurationProblem] {
    destinationFeatures.map { path, feature in
      let place = context.place(of: path)
      return ConfigurationProblem(
        file: context.file,
        line: place.line,
        column: place.column,
        text: "\(path): \(feature) is not built yet"
      )
    }
  }

  private typealias Feature = (path: String, name: String)

  private var destinationFeatures: [Feature] {
    destinations.flatMap { destination in
      let path = "destination.\(destination.name)"
      return Self.chosen([
        (destination.quota != nil, "\(path).quota", "a quota"),
        (destination.approval, "\(path).approval", "approval by a person"),
      ])
    }
  }

  private static func chosen(_ features: [(isAsked: Bool, path: String, name: String)]) -> [Feature]
  {
    features.filter(\.isAsked).map { ($0.path, $0.name) }
  }
}
