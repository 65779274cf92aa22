/// The kit itself cannot work: nothing is said about the plugin.
package struct ConformanceError: Error, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}
