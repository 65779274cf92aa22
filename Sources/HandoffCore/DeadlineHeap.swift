package import Paths

/// Deadlines of paths, earliest first; of equal ones the one that was added first.
///
/// Entries are never taken out before their time: whoever pops one checks whether it still holds.
package struct DeadlineHeap: Sendable {
  private struct Entry {
    let deadline: Duration
    let ordinal: UInt64
    let path: BytePath

    func precedes(_ other: Entry) -> Bool {
      deadline == other.deadline ? ordinal < other.ordinal : deadline < other.deadline
    }
  }

  private var entries: [Entry] = []
  private var lastOrdinal: UInt64 = 0

  package init() {}

  package var count: Int { entries.count }

  /// The earliest deadline.
  package var earliest: Duration? { entries.first?.deadline }

  /// Adds a deadline, in logarithmic time.
  package mutating func add(_ path: BytePath, at deadline: Duration) {
    lastOrdinal += 1
    entries.append(Entry(deadline: deadline, ordinal: lastOrdinal, path: path))
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].precedes(entries[parent]) else { return }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  /// Takes the earliest entry that is due, in logarithmic time.
  package mutating func pop(dueAt now: Duration) -> (path: BytePath, deadline: Duration)? {
    guard let first = entries.first, first.deadline <= now else { return nil }
    entries.swapAt(0, entries.count - 1)
    entries.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in (2 * parent + 1)...(2 * parent + 2)
      where child < entries.count && entries[child].precedes(entries[least]) {
        least = child
      }
      if least == parent { return (first.path, first.deadline) }
      entries.swapAt(parent, least)
      parent = least
    }
  }
}
