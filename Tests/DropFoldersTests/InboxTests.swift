import HandoffCore
import Paths
import Testing

@testable import DropFolders

@Suite("EventInbox losses")
struct InboxTests {
  @Test("a lost folder and an unmounted place take along what came before, not what comes after")
  func forgetsLost() {
    let inbox = EventInbox {}
    inbox.put("/a/x", 0, .changed(closed: true), round: 1)
    inbox.put("/b/m/x", 1, .changed(closed: true), round: 1)
    inbox.put("/b/y", 1, .changed(closed: true), round: 1)
    inbox.putCompleted(folder: 0, EventInbox.Round(number: 1, begun: .now))
    inbox.putLost(folder: 0, FolderStatus(mode: .offline, problem: "the folder was deleted"))
    inbox.putAway(directory: "/b/m")
    inbox.put("/a/z", 0, .listed(identity), round: 2)
    inbox.put("/b/m/z", 1, .listed(identity), round: 1)
    let contents = inbox.take()
    #expect(Set(contents.arrivals.keys) == ["/b/y", "/a/z", "/b/m/z"])
    #expect(contents.lostFolders == [0: "the folder was deleted"])
    #expect(contents.awayDirectories == ["/b/m"])
    #expect(contents.completedRounds.isEmpty)
    #expect(inbox.take().lostFolders.isEmpty)
  }

  @Test("a file that comes again after its directory went stays")
  func keepsLater() {
    let inbox = EventInbox {}
    inbox.put("/d/x/a", 0, .changed(closed: true), round: 1)
    inbox.putVanished(directory: "/d/x")
    inbox.put("/d/x/a", 0, .changed(closed: false), round: 1)
    inbox.putVanished(directory: "/d/y")
    #expect(Set(inbox.take().arrivals.keys) == ["/d/x/a"])
  }

  @Test("a file that moves to another folder's care is that folder's")
  func changesFolder() {
    let inbox = EventInbox {}
    inbox.put("/d/x/a", 0, .changed(closed: true), round: 7)
    inbox.put("/d/x/a", 1, .listed(identity), round: 1)
    let arrival = inbox.take().arrivals["/d/x/a"]
    #expect(arrival?.folder == 1)
    #expect(arrival?.round == 1)
  }

  @Test("many directories that vanish cost one pass over the files")
  func vanishesInBulk() {
    let inbox = EventInbox {}
    for index in 0..<20_000 {
      inbox.put(BytePath("/d/\(index % 1000)/\(index)"), 0, .attributes, round: 1)
    }
    // One by one, each over all files, this would take a minute.
    let time = ContinuousClock().measure {
      for index in 0..<900 { inbox.putVanished(directory: BytePath("/d/\(index)")) }
      #expect(inbox.take().arrivals.count == 2000)
    }
    #expect(time < .seconds(20))
  }

  private var identity: FileIdentity {
    FileIdentity(device: 1, inode: 1, size: 1, modified: 1, changed: 1)
  }
}
