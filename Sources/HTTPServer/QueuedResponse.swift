import CMicroHTTPD
import Glibc
import LinuxSystem

/// A response as MHD wants it; freed with this object, MHD keeps a reference of its own.
final class QueuedResponse {
  private let response: OpaquePointer

  /// Nil where there is no memory or descriptor for it, or a header cannot be sent.
  init?(_ answer: HTTPResponse) {
    guard let response = Self.made(answer.body) else { return nil }
    self.response = response
    for field in answer.headers.fields {
      guard MHD_add_response_header(response, field.name, field.value) == .YES else { return nil }
    }
  }

  deinit {
    MHD_destroy_response(response)
  }

  func queue(on connection: OpaquePointer, status: Int) -> MHD_Result {
    MHD_queue_response(connection, UInt32(status), response)
  }

  private static func made(_ body: HTTPResponse.Body) -> OpaquePointer? {
    switch body {
    case .bytes(let bytes):
      return bytes.withUnsafeBytes { bytes in
        // MHD copies the bytes; it takes them as mutable only for its other modes.
        MHD_create_response_from_buffer(
          bytes.count,
          UnsafeMutableRawPointer(mutating: bytes.baseAddress),
          .RESPMEM_MUST_COPY
        )
      }
    case .file(let file, let offset, let count):
      // MHD closes the descriptor that it is given.
      let number = fcntl(file.rawValue, F_DUPFD_CLOEXEC, 0)
      guard number >= 0 else { return nil }
      guard
        let response = MHD_create_response_from_fd_at_offset64(
          UInt64(count),
          number,
          UInt64(offset)
        )
      else {
        // Only read from.
        _ = close(number)
        return nil
      }
      return response
    }
  }
}
