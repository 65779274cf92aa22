import HandoffCore
import Paths
import Testing

@testable import DropFolders

@Suite("WatchedDirectories")
struct WatchedDirectoriesTests {
  private func tree() -> WatchedDirectories {
    var tree = WatchedDirectories()
    for (watch, parent, name) in [(1, 0, ""), (2, 1, "a"), (3, 2, "b"), (4, 1, "c")] {
      let entry = WatchedDirectories.Entry(
        folder: 0,
        parent: CInt(parent),
        name: BytePath(name),
        device: 1,
        inode: UInt64(watch)
      )
      #expect(tree.insert(entry, CInt(watch)) == nil)
    }
    return tree
  }

  @Test("a path follows from parents and names")
  func findsPath() {
    var tree = tree()
    #expect(tree.relativePath(1) == "")
    #expect(tree.relativePath(3) == "a/b")
    #expect(tree.relativePath(9) == nil)
    #expect(tree.count(folder: 0) == 4)
  }

  @Test("a rename of one directory changes the paths of all below it")
  func renames() {
    var tree = tree()
    #expect(tree.relativePath(3) == "a/b")
    tree.detach(2)
    #expect(tree.relativePath(3) == nil)
    #expect(tree.isDetached(2))
    tree.attach(2, to: 4, as: "d")
    #expect(tree.relativePath(3) == "c/d/b")
    #expect(tree[1]?.children == ["c": 4])
  }

  @Test("a directory that takes another's place is told, and the other has none")
  func replaces() {
    var tree = tree()
    let entry = WatchedDirectories.Entry(folder: 0, parent: 1, name: "a", device: 1, inode: 9)
    #expect(tree.insert(entry, 5) == 2)
    #expect(tree.isDetached(2))
    #expect(tree[1]?.children["a"] == 5)
  }

  @Test("forgetting a tree forgets all below it, forgetting one does not")
  func forgets() {
    var tree = tree()
    #expect(Set(tree.forgetTree(2)) == [2, 3])
    #expect(tree.count(folder: 0) == 2)
    var other = self.tree()
    other.forget(2)
    #expect(other.count(folder: 0) == 3)
    #expect(other.relativePath(3) == nil)
  }
}

@Suite("EventInbox")
struct EventInboxTests {
  @Test("many events of one file take one place, the last deciding")
  func coalesces() {
    let inbox = EventInbox {}
    inbox.put("/d/a", 0, .changed(closed: false), round: 1)
    inbox.put("/d/a", 0, .changed(closed: true), round: 1)
    inbox.put("/d/a", 0, .attributes, round: 2)
    let contents = inbox.take()
    #expect(contents.arrivals.count == 1)
    #expect(contents.arrivals["/d/a"]?.observation == .changed(closed: true))
    #expect(contents.arrivals["/d/a"]?.round == 2)
    #expect(inbox.take().arrivals.isEmpty)
  }

  @Test("a directory that vanishes takes along what came before, not what comes after")
  func ordersVanishing() {
    let inbox = EventInbox {}
    inbox.put("/d/x/a", 0, .changed(closed: true), round: 1)
    inbox.put("/d/xy", 0, .changed(closed: true), round: 1)
    inbox.putVanished(directory: "/d/x")
    inbox.put("/d/x/b", 0, .changed(closed: true), round: 1)
    let contents = inbox.take()
    #expect(Set(contents.arrivals.keys) == ["/d/xy", "/d/x/b"])
    #expect(contents.vanishedDirectories == ["/d/x"])
  }

  @Test("events are told by a signal", arguments: [1, 5])
  func signals(count: Int) async {
    await confirmation(expectedCount: count) { arrived in
      let inbox = EventInbox { arrived() }
      for index in 0..<count { inbox.put(BytePath("/d/\(index)"), 0, .attributes, round: 1) }
    }
  }
}
