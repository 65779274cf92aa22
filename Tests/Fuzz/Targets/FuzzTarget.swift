/// One decoder that meets bytes from outside, and what must hold for whatever it is given.
package struct FuzzTarget: Sendable {
  /// In the command line, and the name of its corpus folder.
  package let name: String
  private let body: @Sendable ([UInt8]) throws -> Void

  init(_ name: String, _ body: @escaping @Sendable ([UInt8]) throws -> Void) {
    self.name = name
    self.body = body
  }

  /// Decodes one input.
  ///
  /// - Throws: ``BrokenProperty``, or what a decoder should not have thrown.
  package func check(_ bytes: [UInt8]) throws {
    try body(bytes)
  }

  /// Every target, in order of names.
  package static let all: [FuzzTarget] = [
    .checksum, .configuration, .container, .frames, .json, .messages, .range, .record, .request,
    .result, .send, .sidecar, .texts, .urls, .verdict, .webhook,
  ]

  package static func named(_ name: String) -> FuzzTarget? {
    all.first { $0.name == name }
  }
}

/// Something that must hold for every input and did not for this one.
package struct BrokenProperty: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}

/// Throws where a property does not hold.
func hold(_ isTrue: Bool, _ property: @autoclosure () -> String) throws {
  if !isTrue { throw BrokenProperty(property()) }
}
