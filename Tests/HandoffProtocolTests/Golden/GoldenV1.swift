/// Documents of protocol version 1, as implementations of it write them.
///
/// They are never edited: what was sent then must be read for ever.
enum GoldenV1 {
  static let requestWithEverything = #"""
    {"attempt":2,"expires_at":"2026-11-30T14:39:00.000Z","local_identifier":"69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001","media_type":"video","metadata":{"count":3,"ratio":1.5,"tags":["a","ü"],"yes":true},"must_understand":["expires_at"],"protocol_version":1,"state":"t.Zm9vYmFy-_x"}
    """#

  static let smallestRequest = #"""
    {"local_identifier":"69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001","media_type":"video","protocol_version":1,"state":"t.Zm9vYmFy-_x"}
    """#

  static let success = #"""
    {"output":{"id":"17","url":"https://social.example/@a/17"},"protocol_version":1,"result":"success","state":"t.Zm9vYmFy-_x"}
    """#

  static let cancelled = #"""
    {"protocol_version":1,"result":"cancelled","state":"t.Zm9vYmFy-_x"}
    """#

  static let failure = #"""
    {"error":{"code":"network","effect":"none","local_identifier":"69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001","message":"The server is away.","remedy":"Wait.","retry":"later","retry_after_s":30},"protocol_version":1,"result":"failure","state":"t.Zm9vYmFy-_x"}
    """#

  /// What a sender asks the broker for.
  static let sender = #"""
    {"destination":"social","expires_in_ms":3600000,"key":"export-17","local_identifier":"69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001","media_type":"video","metadata":{"take":3},"protocol_version":1,"publish_at":"2026-12-01T08:00:00.000Z"}
    """#
}
