package import HandoffProtocol
package import LinuxSystem

/// What the owner of a plugin does with what comes from it.
///
/// Calls come from several tasks at once, but for progress.
package struct PluginCallbacks: Sendable {
  /// The plugin has been discovered and takes handoffs from now on.
  package var onReady: @Sendable (PluginIntroduction) async -> Void = { _ in }
  /// Checks the grant at this moment and answers with a path, or why not.
  package var onResolve:
    @Sendable (ResolveParameters) async throws(RPCMessage.Failure) -> ResolvedAsset = {
      _ throws(RPCMessage.Failure) in throw .unsupported(MessageMethod.resolveAsset.rawValue)
    }
  /// Takes what the plugin has derived from an asset into the library, or says why not.
  package var onRegister:
    @Sendable (RegisterParameters) async throws(RPCMessage.Failure) -> RegisteredRendition = {
      _ throws(RPCMessage.Failure) in throw .unsupported(MessageMethod.registerAsset.rawValue)
    }
  /// Records a result.
  ///
  /// The plugin is answered when this returns, so only after the commit.
  package var onResult: @Sendable (HandoffResult) async throws(RPCMessage.Failure) -> Void = {
    _ throws(RPCMessage.Failure) in throw .unsupported(MessageMethod.result.rawValue)
  }
  /// A result that breaks the protocol, with its token where that can be read.
  package var onMalformed: @Sendable (StateToken?, ProtocolError) async -> Void = { _, _ in }
  /// A sign of life, and whether a person is waited for; one after another, as they came.
  package var onProgress: @Sendable (ProgressParameters) -> Void = { _ in }
  /// The process has ended by itself, after everything that it had sent was handled.
  package var onExit: @Sendable (PluginEnd) async -> Void = { _ in }

  package init() {}
}

/// What a plugin answers to the wish that it gives a handoff up.
package enum CancelAnswer: Sendable {
  /// It has heard, and says nothing of the handoff: the result still comes as a result.
  case heard
  /// It says what it knows of the handoff.
  case knows(HandoffKnowledge)
}

/// What a plugin said of itself, and what was agreed.
package struct PluginIntroduction: Sendable, Hashable {
  package let discovery: Discovery
  /// The highest protocol version that both know.
  package let agreement: VersionAgreement

  /// The plugin names an optional part of the protocol among its capabilities.
  package func offers(_ method: MessageMethod) -> Bool {
    discovery.capabilities?.contains(method.rawValue) ?? false
  }
}

/// How a plugin's process ended.
package struct PluginEnd: Sendable, Hashable, CustomStringConvertible {
  package let status: ExitStatus
  /// The last lines that it printed, at most 64 KiB, without state tokens.
  package let outputTail: String
  /// What the broker had against it, where it was the broker who ended it.
  package let problem: String?

  /// The last line that it printed, shortened; nil if there was none.
  package var lastLine: String? {
    outputTail.split(separator: "\n").last.map { String($0.prefix(300)) }
  }

  package var description: String { problem.map { "\($0) (\(status))" } ?? "\(status)" }
}
