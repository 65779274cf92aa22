/// Documents of protocol version 3 as they went out once.
///
/// They are never edited: what was sent then must be read for ever.
enum GoldenV3 {
  static let identifier = "69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"
  static let token = "t.Zm9vYmFy-_x"

  static let requestWithEverything = #"""
    {"attempt":2,"callback_id":"editor-v1","expires_at":"2026-11-30T14:39:00.000Z","local_identifiers":["69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001","00112233-4455-8677-8899-AABBCCDDEEFF/L0/001"],"media_type":"video","metadata":{"count":3,"ratio":1.5,"tags":["a","ü"],"yes":true},"must_understand":["title"],"protocol_version":3,"state":"t.Zm9vYmFy-_x","sync_publish":true,"title":"A \"title\" / ü"}
    """#

  static let smallestRequest = #"""
    {"local_identifiers":["69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"],"media_type":"video","protocol_version":3,"state":"t.Zm9vYmFy-_x"}
    """#

  static let success = #"""
    {"output":{"id":"17","url":"https://social.example/@a/17"},"protocol_version":3,"result":"success","state":"t.Zm9vYmFy-_x"}
    """#

  static let cancelled = #"""
    {"protocol_version":3,"result":"cancelled","state":"t.Zm9vYmFy-_x"}
    """#

  static let failure = #"""
    {"error":{"code":"network","effect":"none","local_identifier":"69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001","message":"The server is away.","remedy":"Wait.","retry":"later","retry_after_s":30},"protocol_version":3,"result":"failure","state":"t.Zm9vYmFy-_x"}
    """#

  static let smallestFailure = #"""
    {"error":{"code":"something_new"},"protocol_version":3,"result":"failure","state":"t.Zm9vYmFy-_x"}
    """#

  /// What a sender asks the broker for.
  static let sender = #"""
    {"callback_id":"editor-v1","destination":"social","key":"export-17","local_identifiers":["69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"],"media_type":"video","metadata":{"take":3},"must_understand":["sync_publish"],"protocol_version":3,"sync_publish":true,"title":"Day 1"}
    """#
}
