/// Why the service cannot start or carry on.
package struct ServiceError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: Hashable, Sendable {
    /// Another broker holds the state folder.
    case alreadyRunning
    /// Another broker, with another state folder, has the library.
    case libraryInUse
    /// A secret that the configuration refers to is missing or unfit.
    case noSecret
    /// The library has assets and the state folder has no ledger that knows them.
    case ledgerLost
    /// The library has seen the ledger further on than it is.
    case ledgerOld
  }

  package let code: Code
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { message }
}
