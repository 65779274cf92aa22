import Glibc
package import HandoffCore
package import HandoffProtocol
import LinuxSystem
package import Paths

/// The `url` transport: a request as a URL that a desktop app opens through its own scheme.
///
/// The result comes back by itself, much later or never; ``ReturnedResult`` reads it.
package struct URLReceiver: Sendable {
  private let settings: DestinationSettings
  private let host: ReceiverHost

  package init(settings: DestinationSettings, host: ReceiverHost) {
    self.settings = settings
    self.host = host
  }

  /// What is said of its containment.
  package static let containment = "none: the opener belongs to the desktop session"

  /// Opens one request.
  ///
  /// - Parameters:
  ///   - request: with the moment after which its result does not count any more.
  ///   - assets: the granted paths, told to the opener as to an `exec` receiver.
  /// - Returns: why it was not opened, or is not known to have been; nil once it was.
  package func open(_ request: HandoffRequest, assets: [BytePath]) async -> ResultError? {
    do {
      let scheme = settings.url.flatMap { HandoffURL.scheme(of: $0) } ?? ""
      let url = try HandoffURL.encode(request, scheme: scheme)
      return await open(url, assets)
    } catch {
      let reason = (error as? ProtocolError)?.message ?? "it cannot be written as a URL"
      return ResultError(.malformedRequest, reason, effect: .none)
    }
  }

  private func open(_ url: String, _ assets: [BytePath]) async -> ResultError? {
    let opener = URLOpener(
      command: settings.command,
      host: host,
      variables: variables(assets),
      passedOn: settings.env
    )
    guard let program = opener.program else {
      let name = BytePath(settings.command.first ?? "").displayText
      return unavailable("the opener \(name) is not there or not executable")
    }
    if Task.isCancelled { return unavailable("the broker is stopping") }
    do {
      return Self.error(of: try await opener.open(url, with: program), program)
    } catch {
      return unavailable("the opener could not be started: \(error)")
    }
  }

  /// What an opener's end means: pure.
  ///
  /// What an opener started may have acted before it failed, so an exit status says that nothing was
  /// opened only where it is documented to: 75 by CONTRACT.md, and those of xdg-open(1) that come before
  /// anything is started.
  static func error(of end: URLOpener.End, _ program: BytePath) -> ResultError? {
    let isXDG = program.lastComponent == "xdg-open"
    switch end {
    case .exited(0), .stillRunning:
      return nil
    case .exited(75):
      return ResultError(
        .destinationUnavailable,
        "the opener asks to be tried again",
        effect: .none,
        retry: .later
      )
    case .exited(let code) where isXDG && (2...3).contains(code):
      return ResultError(
        .notConfigured,
        code == 3 ? "xdg-open finds no program that opens URLs" : "xdg-open does not take the URL",
        effect: .none,
        retry: .afterFix,
        remedy: "register a program for the scheme in the session that the broker runs in"
      )
    case .exited(let code):
      return unknown("the opener ended with exit code \(code)")
    case .signalled:
      return unknown("the opener was ended by a signal")
    case .abandoned:
      return ResultError(
        .interrupted,
        "the broker stopped while the opener ran",
        effect: .unknown,
        remedy: remedy
      )
    }
  }

  private static func unknown(_ message: String) -> ResultError {
    ResultError(.receiverFailed, message, effect: .unknown, remedy: remedy)
  }

  private static let remedy =
    "a result that still comes counts; else `handoff adopt`, `retry` or `cancel`"

  private func unavailable(_ message: String) -> ResultError {
    ResultError(.destinationUnavailable, message, effect: .none, retry: .later)
  }

  private func variables(_ assets: [BytePath]) -> [BytePath] {
    [
      BytePath("HANDOFF_DESTINATION=\(settings.name)"), BytePath("HANDOFF_ASSETS=\(assets.count)"),
    ]
      + assets.enumerated().map { index, path in
        BytePath(Array("HANDOFF_ASSET_\(index + 1)=".utf8) + path.bytes)
      }
  }
}
