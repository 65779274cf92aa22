/// Finds the known key that a misspelt one was probably meant to be.
package enum NearestKey {
  /// The nearest by edit distance, not counting case and `-` for `_`; nil only if there are no keys.
  package static func of(_ key: String, among known: some Collection<String>) -> String? {
    let asked = folded(key)
    return known.sorted().min { left, right in
      cost(asked, folded(left)) < cost(asked, folded(right))
    }
  }

  /// The nearest, if it is near: at most so many edits away.
  package static func of(
    _ key: String,
    among known: some Collection<String>,
    within edits: Int
  ) -> String? {
    of(key, among: known).flatMap { nearest in
      distance(folded(key), folded(nearest)) <= edits ? nearest : nil
    }
  }

  private static func folded(_ key: String) -> [UInt8] {
    // Longer than any key there is: the rest would only cost time.
    key.lowercased().utf8.prefix(80).map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }
  }

  /// Half the distance for a key that the other begins with: `quiet_seconds` was meant as `quiet`.
  private static func cost(_ asked: [UInt8], _ known: [UInt8]) -> Int {
    let distance = distance(asked, known) * 2
    return asked.starts(with: known) || known.starts(with: asked) ? distance / 2 : distance
  }

  /// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
  static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in left.indices {
      var current = [row + 1]
      for column in right.indices {
        let substitution = last[column] + (left[row] == right[column] ? 0 : 1)
        var cost = min(last[column + 1] + 1, current[column] + 1, substitution)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          cost = min(cost, beforeLast[column - 1] + 1)
        }
        current.append(cost)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}
