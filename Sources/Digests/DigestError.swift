import CGcrypt

/// The digest library refused a call.
///
/// Nothing in the input causes that, so trying again does not help.
package struct DigestError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was called.
  package let operation: String
  /// libgcrypt's own text.
  package let reason: String

  init(_ code: gcry_error_t, _ operation: String) {
    self.operation = operation
    self.reason = gcry_strerror(code).map { String(cString: $0) } ?? "error \(code)"
  }

  package var description: String { "\(operation): \(reason)" }

  /// Throws for every code but 0.
  static func check(_ code: gcry_error_t, _ operation: String) throws(DigestError) {
    guard code == 0 else { throw DigestError(code, operation) }
  }
}

/// libgcrypt's one initialisation.
enum Library {
  /// 0, or the code of the failure.
  ///
  /// A static stored property is made once, whichever thread is first.
  private static let initialization = handoff_gcry_initialize()

  /// Must have returned before any other call.
  static func prepare() throws(DigestError) {
    try DigestError.check(initialization, "gcry_check_version")
  }
}
