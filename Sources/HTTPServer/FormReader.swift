import CMicroHTTPD

/// Cuts a form's body into the pieces of its parts.
final class FormReader {
  private static let buffer = 65_536

  private let form: HTTPForm
  private var processor: OpaquePointer?

  /// Nil where the request's type is none of a form.
  init?(_ connection: OpaquePointer, _ form: HTTPForm) {
    self.form = form
    // Borrowed: the processor is destroyed with this object.
    let context = Unmanaged.passUnretained(self).toOpaque()
    processor = MHD_create_post_processor(connection, Self.buffer, Self.piece, context)
    if processor == nil { return nil }
  }

  deinit {
    finish()
  }

  /// False for what is no form.
  func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let processor else { return false }
    let text = bytes.bindMemory(to: CChar.self).baseAddress
    return MHD_post_process(processor, text, bytes.count) == .YES
  }

  /// Gives out what is still held back.
  func finish() {
    // It reports an end in the middle of a part, of which the form's taker sees what is missing.
    if let processor { _ = MHD_destroy_post_processor(processor) }
    processor = nil
  }

  private static let piece: MHD_PostDataIterator = {
    context,
    _,
    name,
    fileName,
    contentType,
    _,
    bytes,
    _,
    count in
    guard let context, let name else { return .YES }
    let reader = Unmanaged<FormReader>.fromOpaque(context).takeUnretainedValue()
    reader.form.take(
      HTTPForm.Piece(
        name: String(cString: name),
        fileName: fileName.map { String(cString: $0) },
        contentType: contentType.map { String(cString: $0) },
        bytes: UnsafeRawBufferPointer(start: bytes, count: count)
      )
    )
    return .YES
  }
}
