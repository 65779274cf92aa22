import HandoffCore
import HandoffTestSupport
import Paths
import Testing

@Suite("DeadlineHeap")
struct DeadlineHeapTests {
  @Test("gives entries by deadline, equal ones in the order of adding", arguments: UInt64(1)...10)
  func sorts(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var heap = DeadlineHeap()
    var expected: [(deadline: Int, ordinal: Int)] = []
    for ordinal in 0..<500 {
      let deadline = Int.random(in: 0..<50, using: &random)
      heap.add(BytePath("\(ordinal)"), at: .milliseconds(deadline))
      expected.append((deadline, ordinal))
    }
    expected.sort { $0 < $1 }
    var popped: [String] = []
    while let (path, _) = heap.pop(dueAt: .seconds(1)) { popped.append(path.lossyText) }
    #expect(popped == expected.map { "\($0.ordinal)" })
  }

  @Test("keeps what is not due")
  func keeps() {
    var heap = DeadlineHeap()
    heap.add("a", at: .seconds(2))
    #expect(heap.pop(dueAt: .seconds(1)) == nil)
    #expect(heap.earliest == .seconds(2))
    #expect(heap.count == 1)
  }
}
