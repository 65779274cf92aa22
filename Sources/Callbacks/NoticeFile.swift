import Glibc
import LinuxSystem
import Paths

/// Brings a notice to a file: a line added to it, or, where the path is a folder, a document in it.
///
/// Blocks.
struct NoticeFile: Sendable {
  let path: BytePath

  private static let permissions: UInt32 = 0o640

  /// - Parameters:
  ///   - document: one line of JSON, without a line feed.
  ///   - name: the notice's own; a notice that comes twice into a folder is one document.
  /// - Throws: ``DeliveryFailure``.
  func add(_ document: [UInt8], named name: String) throws(DeliveryFailure) {
    let line = document + [UInt8(ascii: "\n")]
    do throws(SystemError) {
      switch try FileStatus.of(path, following: true)?.kind {
      case .directory:
        let file = path.appending("\(name).json")
        return try DurableFile.write(line, to: file, permissions: Self.permissions)
      case .regular, nil: return try append(line)
      case .symbolicLink, .other: break
      }
    } catch {
      throw DeliveryFailure("\(error)")
    }
    throw DeliveryFailure("\(path.displayText) is neither a file nor a folder")
  }

  /// Adds a line in one write and waits until it is on the disk.
  private func append(_ line: [UInt8]) throws(SystemError) {
    // Without O_NONBLOCK a FIFO that has come meanwhile would keep this thread for ever.
    let file = try FileDescriptor.open(
      path,
      O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY,
      mode: Self.permissions
    )
    let size = try file.status().size
    // A line that a full disk or a crash has cut short stays alone on its line.
    let start = try endsLine(file, size: size) ? [] : [UInt8(ascii: "\n")]
    try file.write(start + line)
    try file.sync()
    if size == 0 { try Directory.sync(path.parent) }
  }

  private func endsLine(_ file: FileDescriptor, size: Int64) throws(SystemError) -> Bool {
    guard size > 0 else { return true }
    let last = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
    defer { last.deallocate() }
    return try file.read(into: last, at: size - 1) == 0 || last[0] == UInt8(ascii: "\n")
  }
}
