/// The parameters of `asset.register`: a file that the receiver derived from an asset of an open handoff.
public struct RegisterParameters: Sendable, Codable {
  /// The token of the request that the asset belongs to.
  public var state: StateToken
  /// One of the request's identifiers.
  public var localIdentifier: LocalIdentifier
  /// What it is, as `proxy` or `poster`.
  public var name: RenditionName
  /// Absolute, in the receiver's work folder or a folder that it may write, without a symbolic link.
  ///
  /// Where that is not UTF-8, ``pathBytes`` is exact.
  public var path: String
  /// The path's bytes in base64, only where they are not UTF-8.
  public var pathBytes: String?

  private enum CodingKeys: String, CodingKey {
    case state
    case localIdentifier = "local_identifier"
    case name
    case path
    case pathBytes = "path_bytes"
  }

  /// Makes parameters.
  public init(
    state: StateToken,
    localIdentifier: LocalIdentifier,
    name: RenditionName,
    path: String,
    pathBytes: String? = nil
  ) {
    self.state = state
    self.localIdentifier = localIdentifier
    self.name = name
    self.path = path
    self.pathBytes = pathBytes
  }
}

/// The answer to `asset.register`: the broker has a copy of its own, and the file is the receiver's again.
public struct RegisteredRendition: Sendable, Codable, Hashable {
  /// As it was registered.
  public var name: RenditionName
  /// SHA-256 in hexadecimal.
  public var sha256: ContentDigest
  /// Bytes.
  public var size: Int64

  /// Makes an answer.
  public init(name: RenditionName, sha256: ContentDigest, size: Int64) {
    self.name = name
    self.sha256 = sha256
    self.size = size
  }
}
