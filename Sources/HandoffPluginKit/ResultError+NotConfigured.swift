public import HandoffProtocol

extension ResultError {
  /// The destination cannot work with its settings or what is installed.
  ///
  /// - Parameters:
  ///   - message: one sentence that names the setting.
  ///   - remedy: what a person can do about it.
  /// - Returns: an error that says that nothing was done, and that another attempt makes sense once a
  ///   person has mended it.
  public static func notConfigured(_ message: String, remedy: String? = nil) -> ResultError {
    ResultError(.notConfigured, message, effect: .none, retry: .afterFix, remedy: remedy)
  }
}
