extension String {
  /// Whether one is the other with one or two letters missing, added, changed or swapped.
  func isNearly(_ other: String) -> Bool {
    let left = Array(lowercased())
    let right = Array(other.lowercased())
    var row = Array(0...right.count)
    for (index, letter) in left.enumerated() {
      var next = [index + 1]
      for (place, other) in right.enumerated() {
        let changed = row[place] + (letter == other ? 0 : 1)
        next.append(Swift.min(changed, row[place + 1] + 1, next[place] + 1))
      }
      row = next
    }
    return row[right.count] <= 2
  }
}
