package import Paths

/// One part of a form (RFC 7578).
package struct HTTPFormPart: Sendable {
  /// What stands in it.
  package enum Content: Sendable {
    case text(String)
    /// As a file of this name and type.
    case file(HTTPFileSlice, name: String, contentType: String)
  }

  package var name: String
  package var content: Content

  package init(_ name: String, _ content: Content) {
    self.name = name
    self.content = content
  }

  /// A part of text.
  package static func text(_ name: String, _ value: String) -> HTTPFormPart {
    HTTPFormPart(name, .text(value))
  }

  /// A part of a file.
  package static func file(
    _ name: String,
    _ slice: HTTPFileSlice,
    named fileName: String,
    contentType: String
  ) -> HTTPFormPart {
    HTTPFormPart(name, .file(slice, name: fileName, contentType: contentType))
  }
}

/// A run of bytes of a file that is sent.
///
/// A file that has become shorter ends the request without an answer: fewer bytes are never sent as if they
/// were all.
package struct HTTPFileSlice: Hashable, Sendable {
  /// Absolute.
  package var path: BytePath
  /// Where it begins, in bytes.
  package var offset: Int64
  /// How many bytes.
  package var count: Int64

  package init(_ path: BytePath, offset: Int64 = 0, count: Int64) {
    self.path = path
    self.offset = offset
    self.count = count
  }
}
