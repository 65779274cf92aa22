package import HandoffProtocol
package import Paths

/// One asset of a handoff that goes into an inbox.
package struct InboxAsset: Sendable {
  package let localIdentifier: LocalIdentifier
  package let digest: ContentDigest
  /// In bytes.
  package let size: Int64
  /// Where it is read.
  package let path: BytePath
  /// The export's own.
  package let name: BytePath

  package init(
    localIdentifier: LocalIdentifier,
    digest: ContentDigest,
    size: Int64,
    path: BytePath,
    name: BytePath
  ) {
    self.localIdentifier = localIdentifier
    self.digest = digest
    self.size = size
    self.path = path
    self.name = name
  }
}

/// What the program that reads an inbox is told of a delivery.
///
/// The request without its state token: nobody answers, so nobody needs one.
struct InboxManifest: Encodable {
  struct File: Encodable {
    let name: BytePath
    let asset: InboxAsset

    private enum CodingKeys: String, CodingKey {
      case name
      case nameBytes = "name_bytes"
      case localIdentifier = "local_identifier"
      case sha256
      case size
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name.lossyText, forKey: .name)
      try container.encodeIfPresent(name.base64UnlessText, forKey: .nameBytes)
      try container.encode(asset.localIdentifier, forKey: .localIdentifier)
      try container.encode(asset.digest, forKey: .sha256)
      try container.encode(asset.size, forKey: .size)
    }
  }

  let handoff: String
  let destination: DestinationName
  let request: JSONValue
  let files: [File]

  init(
    _ request: HandoffRequest,
    handoff: String,
    destination: DestinationName,
    files: [File]
  ) throws {
    guard case .object(var members) = try WireCoder.value(request) else {
      throw ProtocolError(.malformedRequest, "no document")
    }
    members["state"] = nil
    self.request = .object(members)
    self.handoff = handoff
    self.destination = destination
    self.files = files
  }

  private enum CodingKeys: String, CodingKey {
    case handoff = "handoff_id"
    case destination
    case request
    case files
  }
}
