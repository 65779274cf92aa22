import Glibc
package import LinuxSystem
package import Paths

/// What the library could not do, to what, and whether the same attempt may succeed later.
package struct LibraryError: Error, Hashable, Sendable {
  /// The kinds of failure.
  ///
  /// The raw values stand in evidence and logs.
  package enum Code: String, Hashable, Sendable {
    /// The library's file system is full, or over quota.
    case noSpace = "no_space"
    /// The library's file system is mounted read-only.
    case readOnly = "read_only"
    /// The broker's user may not write there.
    case notPermitted = "not_permitted"
    /// The medium failed.
    case inputOutput = "io_error"
    /// `library.json` is not there (most likely the library's mount is away), or is another library's.
    case unavailable = "library_unavailable"
    /// Another process has the library for itself.
    case inUse = "library_in_use"
    /// `library.json` is of a newer format, or cannot be read.
    case unknownFormat = "unknown_format"
    /// The source is no longer the export that was judged, or somebody wants to write to it.
    case sourceChanged = "source_changed"
    /// The source's bytes do not have the checksum that its writer gave: a change of one of them helps.
    case checksumMismatch = "checksum_mismatch"
    /// The source cannot be read, moved or removed.
    case sourceUnreadable = "unreadable"
    /// There is no object of that digest.
    case objectMissing = "asset_missing"
    /// The object's bytes do not have the digest that its name says.
    case objectDamaged = "asset_damaged"
    /// A record is not one, or is another asset's.
    case malformedRecord = "malformed_record"
    /// A name that cannot be a file name.
    case invalidName = "invalid_name"
    /// Anything else; ``LibraryError/underlying`` says what.
    case other
  }

  package let code: Code
  /// What it happened to.
  package let path: BytePath
  /// The system call that failed, where one did.
  package let underlying: SystemError?
  /// One sentence for a person, where the code does not say it all.
  package let detail: String?

  package init(
    _ code: Code,
    _ path: BytePath,
    underlying: SystemError? = nil,
    detail: String? = nil
  ) {
    self.code = code
    self.path = path
    self.underlying = underlying
    self.detail = detail
  }

  /// The same attempt may succeed later without anybody changing the export.
  package var mayPass: Bool {
    switch code {
    case .noSpace, .readOnly, .notPermitted, .inputOutput, .unavailable, .inUse, .sourceChanged:
      true
    case .sourceUnreadable, .other: underlying?.mayPass ?? false
    case .unknownFormat, .objectMissing, .objectDamaged, .malformedRecord, .invalidName,
      .checksumMismatch:
      false
    }
  }

  /// A call on the library's own file system that failed.
  init(storing error: SystemError, at path: BytePath) {
    let code: Code =
      switch error.errno {
      case ENOSPC, EDQUOT: .noSpace
      case EROFS: .readOnly
      case EACCES, EPERM: .notPermitted
      case EIO: .inputOutput
      default: .other
      }
    self.init(code, path, underlying: error)
  }

  /// A call on a source that failed.
  init(reading error: SystemError, from path: BytePath) {
    self.init(.sourceUnreadable, path, underlying: error)
  }
}

extension LibraryError: CustomStringConvertible {
  package var description: String {
    [code.rawValue, path.displayText, underlying?.description, detail]
      .compactMap(\.self).joined(separator: ": ")
  }
}

/// Does something to the library's file system; what fails is an error about the path.
func storing<Value>(
  _ path: BytePath,
  _ work: () throws(SystemError) -> Value
) throws(LibraryError) -> Value {
  do throws(SystemError) {
    return try work()
  } catch {
    throw LibraryError(storing: error, at: path)
  }
}

/// Does something to a source; what fails is an error about the path.
func reading<Value>(
  _ path: BytePath,
  _ work: () throws(SystemError) -> Value
) throws(LibraryError) -> Value {
  do throws(SystemError) {
    return try work()
  } catch {
    throw LibraryError(reading: error, from: path)
  }
}
