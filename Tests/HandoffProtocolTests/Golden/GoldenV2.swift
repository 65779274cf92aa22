/// Documents of protocol version 2, as implementations of it write them.
///
/// They are never edited: what was sent then must be read for ever.
enum GoldenV2 {
  static let requestWithEverything = #"""
    {"attempt":2,"expires_at":"2026-11-30T14:39:00.000Z","local_identifiers":["69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001","00112233-4455-8677-8899-AABBCCDDEEFF/L0/001"],"media_type":"video","metadata":{"count":3,"ratio":1.5,"tags":["a","ü"],"yes":true},"must_understand":["title"],"protocol_version":2,"state":"t.Zm9vYmFy-_x","title":"A \"title\" / ü"}
    """#

  static let smallestRequest = #"""
    {"local_identifiers":["69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"],"media_type":"video","protocol_version":2,"state":"t.Zm9vYmFy-_x"}
    """#

  static let success = #"""
    {"output":{"id":"17","url":"https://social.example/@a/17"},"protocol_version":2,"result":"success","state":"t.Zm9vYmFy-_x"}
    """#

  static let cancelled = #"""
    {"protocol_version":2,"result":"cancelled","state":"t.Zm9vYmFy-_x"}
    """#

  static let failure = #"""
    {"error":{"code":"network","effect":"none","local_identifier":"69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001","message":"The server is away.","remedy":"Wait.","retry":"later","retry_after_s":30},"protocol_version":2,"result":"failure","state":"t.Zm9vYmFy-_x"}
    """#

  /// What a sender asks the broker for.
  static let sender = #"""
    {"destination":"social","expires_at":"2026-12-02T08:00:00.000Z","key":"export-17","local_identifiers":["69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001","00112233-4455-8677-8899-AABBCCDDEEFF/L0/001"],"media_type":"video","metadata":{"take":3},"protocol_version":2,"publish_at":"2026-12-01T08:00:00.000Z","title":"Day 1"}
    """#
}
