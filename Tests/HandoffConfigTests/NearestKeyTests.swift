import Testing

@testable import HandoffConfig

@Suite("Nearest key")
struct NearestKeyTests {
  private let keys = ["quiet", "quiet_poll", "state", "existing", "original", "original_when"]

  @Test(
    "a misspelt key is led to the one that was meant",
    arguments: [
      ("stat", "state"), ("qiuet", "quiet"), ("quiet-poll", "quiet_poll"), ("Quiet", "quiet"),
      ("quietSecconds", "quiet"), ("orignal_when", "original_when"), ("exists", "existing"),
    ]
  )
  func nearest(key: String, meant: String) {
    #expect(NearestKey.of(key, among: keys) == meant)
  }

  @Test("among no keys there is no nearest")
  func none() {
    #expect(NearestKey.of("x", among: [String]()) == nil)
  }

  @Test("a swap of neighbours counts once")
  func swap() {
    #expect(NearestKey.distance(Array("abcd".utf8), Array("acbd".utf8)) == 1)
    #expect(NearestKey.distance([], Array("abc".utf8)) == 3)
    #expect(NearestKey.distance(Array("kitten".utf8), Array("sitting".utf8)) == 3)
  }
}
