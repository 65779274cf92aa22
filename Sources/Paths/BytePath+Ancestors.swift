extension BytePath {
  /// The path itself and each folder above it, the deepest first, without `/`.
  ///
  /// Asking a set for each of them tells whether any of many folders holds the path, in time that does
  /// not grow with the number of folders.
  public var selfAndAncestors: some Sequence<BytePath> {
    sequence(first: self) { path in
      let parent = path.parent
      return parent.isEmpty || parent.bytes.count >= path.bytes.count || parent == "/"
        ? nil : parent
    }
  }

  /// One of the folders holds this path, or is it.
  public func isInside(anyOf folders: Set<BytePath>) -> Bool {
    !folders.isEmpty && selfAndAncestors.contains { folders.contains($0) }
  }
}
