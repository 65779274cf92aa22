package import HandoffConfig
import HandoffCore
import HandoffProtocol
import Webhooks

/// The secrets that a configuration refers to, as they were when they were read.
package struct Secrets: Sendable {
  /// What signs both ways at an `http` destination: the present one, then the one before it.
  let destinations: [DestinationName: [WebhookSecret]]
  /// What signs the notices of a callback by `url`, in the same order.
  let callbacks: [CallbackID: [WebhookSecret]]
  /// What is missing or unfit; with any of these the broker does not start.
  package let problems: [ConfigurationProblem]
  /// What is doubtful about the way in which they are kept.
  package let warnings: [String]

  /// Reads every secret; blocks.
  package init(of configuration: Configuration, environment: [String: String]) {
    let reading = SecretReading(environment: environment)
    var problems: [ConfigurationProblem] = []
    var warnings: [String] = []
    func read(_ present: SecretReference?, _ old: SecretReference?, _ path: String)
      -> [WebhookSecret]
    {
      let references = [("secret", present), ("old_secret", old)]
      return references.compactMap { key, reference -> WebhookSecret? in
        guard let reference else { return nil }
        do throws(SecretReading.Fault) {
          let (secret, warning) = try reading.read(reference)
          if let warning { warnings.append("\(path).\(key): \(warning)") }
          return secret
        } catch {
          problems.append(configuration.problem(error.description, at: "\(path).\(key)"))
          return nil
        }
      }
    }
    var destinations: [DestinationName: [WebhookSecret]] = [:]
    for settings in configuration.destinations where settings.transport == .http {
      let path = "destination.\(settings.name)"
      destinations[settings.name] = read(settings.secret, settings.oldSecret, path)
    }
    var callbacks: [CallbackID: [WebhookSecret]] = [:]
    for settings in configuration.callbacks.values.sorted(by: { $0.id.text < $1.id.text }) {
      guard case .url = settings.action else { continue }
      let path = "callback.\(settings.id)"
      callbacks[settings.id] = read(settings.secret, settings.oldSecret, path)
    }
    self.destinations = destinations
    self.callbacks = callbacks
    self.problems = problems
    self.warnings = warnings
  }
}
