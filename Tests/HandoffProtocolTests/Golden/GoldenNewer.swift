/// Documents as a later version may write them: members that this code does not know, in every place.
enum GoldenNewer {
  static let requestWithUnknownMembers = #"""
    {"attempt":1,"colour":{"deep":[null,{"x":1}]},"local_identifiers":["69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"],"media_type":"video","protocol_version":3,"region":"eu","state":"t.Zm9vYmFy-_x","sync_publish":false}
    """#

  static let requestThatMustBeUnderstood = #"""
    {"attempt":1,"local_identifiers":["69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"],"media_type":"video","must_understand":["title","region"],"protocol_version":3,"region":"eu","state":"t.Zm9vYmFy-_x","sync_publish":false}
    """#

  /// A member of a later version of the protocol is unknown to an earlier one.
  static let titleThatMustBeUnderstoodAtOne = #"""
    {"local_identifier":"69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001","media_type":"video","must_understand":["title"],"protocol_version":1,"state":"t.Zm9vYmFy-_x","title":"A"}
    """#

  static let titleAtOne = #"""
    {"local_identifier":"69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001","media_type":"video","protocol_version":1,"state":"t.Zm9vYmFy-_x","title":7}
    """#

  static let requestOfFour = #"""
    {"assets":[{"local_identifier":"69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"}],"media_type":"video","protocol_version":4,"state":"t.Zm9vYmFy-_x"}
    """#

  static let resultWithUnknownMembers = #"""
    {"cost":{"eur":1},"output":{"id":"17"},"protocol_version":3,"result":"success","state":"t.Zm9vYmFy-_x","trace":[1]}
    """#

  static let failureWithUnknownMembers = #"""
    {"error":{"class":"later","code":"brand_new","effect":"none","message":"No.","retry":"never"},"protocol_version":2,"result":"failure","state":"t.Zm9vYmFy-_x"}
    """#

  static let resultOfFour = #"""
    {"protocol_version":4,"result":"success","state":"t.Zm9vYmFy-_x"}
    """#

  static let senderOfFour = #"""
    {"destination":"social","local_identifiers":["69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"],"media_type":"video","protocol_version":4}
    """#
}
