import CCurl
import Glibc
import LinuxSystem

/// Reads a slice of a file for libcurl while it is sent.
final class SliceReader {
  private let file: FileDescriptor
  private let slice: HTTPFileSlice
  private var position: Int64 = 0

  /// Opens the file; nothing was sent when that fails.
  init(_ slice: HTTPFileSlice) throws(HTTPFailure) {
    do throws(SystemError) {
      file = try FileDescriptor.open(slice.path, O_RDONLY | O_NONBLOCK)
    } catch {
      throw HTTPFailure(.request, wasSent: false, "\(error)")
    }
    self.slice = slice
  }

  // MARK: libcurl's callbacks, formed outside of every actor

  /// CURLOPT_READFUNCTION: how many bytes were given.
  static let read: curl_read_callback = { buffer, size, count, context in
    guard let buffer, let context else { return Int(CURL_READFUNC_ABORT) }
    let reader = Unmanaged<SliceReader>.fromOpaque(context).takeUnretainedValue()
    return reader.read(UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
  }

  /// CURLOPT_SEEKFUNCTION: libcurl begins again where it has to repeat what it sent.
  static let seek: curl_seek_callback = { context, offset, origin in
    guard let context, origin == SEEK_SET else { return CURL_SEEKFUNC_CANTSEEK }
    let reader = Unmanaged<SliceReader>.fromOpaque(context).takeUnretainedValue()
    reader.position = Int64(offset)
    return CURL_SEEKFUNC_OK
  }

  private func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    let left = slice.count - position
    guard left > 0 else { return 0 }
    let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: left)))
    do throws(SystemError) {
      let count = try file.read(into: wanted, at: slice.offset + position)
      // Shorter than it was: what is missing cannot be sent.
      guard count > 0 else { return Int(CURL_READFUNC_ABORT) }
      position += Int64(count)
      return count
    } catch {
      return Int(CURL_READFUNC_ABORT)
    }
  }
}
