extension Array {
  /// The elements in order, so many at a time; the last batch may be shorter.
  func batches(of size: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
