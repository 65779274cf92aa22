import Destinations
import Paths
import Testing

@Suite("Names in an inbox")
struct InboxNameTests {
  @Test("the export's own, then counted before the extension")
  func counted() {
    #expect(InboxName("clip.mp4")[1] == "clip.mp4")
    #expect(InboxName("clip.mp4")[2] == "clip 2.mp4")
    #expect(InboxName("clip.tar.gz")[10] == "clip.tar 10.gz")
    #expect(InboxName("clip")[3] == "clip 3")
    #expect(InboxName(folderFor: "clip.mp4")[1] == "clip")
    #expect(InboxName(folderFor: "clip.mp4")[2] == "clip 2")
    #expect(InboxName.manifest(of: "clip 2.mp4") == "clip 2.mp4.handoff-manifest.json")
  }

  @Test("leave room for the manifest's name, and cut no character")
  func long() {
    let name = InboxName(BytePath(String(repeating: "é", count: 125) + ".mp4"))
    for number in [1, 2, 9999] {
      let bytes = InboxName.manifest(of: name[number]).bytes
      #expect(bytes.count <= 255)
      #expect(bytes.count > 250)
      #expect(String(validating: bytes, as: UTF8.self) != nil)
    }
    let odd = InboxName(BytePath([UInt8](repeating: 0xFF, count: 255)))
    #expect(odd[1].bytes.count == 233)
    let endless = InboxName(BytePath("a." + String(repeating: "b", count: 250)))
    #expect(InboxName.manifest(of: endless[2]).bytes.count <= 255)
  }
}
