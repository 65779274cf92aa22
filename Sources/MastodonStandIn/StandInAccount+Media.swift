import HandoffProtocol

extension StandInAccount {
  func upload(_ question: Question, _ state: inout State) -> Reply {
    guard let upload = question.upload, upload.size > 0 else {
      return .error(422, "Validation failed: File can't be blank")
    }
    guard rules.mimeTypes.contains(upload.contentType) else {
      return .error(422, "Validation failed: File content type is invalid")
    }
    guard upload.size <= rules.maxSize else {
      let megabytes = rules.maxSize >> 20
      return .error(422, "Validation failed: File file size must be less than \(megabytes) MB")
    }
    state.uploads.append(upload)
    state.media[upload.id] = Medium(upload: upload, pollsLeft: rules.processingPolls)
    let isReady = rules.processingPolls == 0
    return Reply(status: isReady ? 200 : 202, body: attachment(upload.id, isReady: isReady))
  }

  /// 404 for what a status shows: the platform tells of those in the status.
  func medium(_ id: String, _ state: inout State) -> Reply {
    guard let medium = state.media[id], !medium.isAttached || !rules.honoursKeys else {
      return .error(404, "Record not found")
    }
    if medium.pollsLeft > 0 { state.media[id]?.pollsLeft -= 1 }
    let isReady = medium.pollsLeft == 0
    return Reply(status: isReady ? 200 : 206, body: attachment(id, isReady: isReady))
  }

  func attachment(_ id: String, isReady: Bool) -> JSONValue {
    .object([
      "id": .string(id), "type": .string("video"),
      "url": isReady ? .string("https://files.invalid/\(id).mp4") : .null,
    ])
  }

  /// The instance document of a version, `v1` or `v2`.
  func instance(_ version: String) -> Reply {
    switch (rules.instance, version) {
    case (.version2, _), (.version1, "v1"):
      let media: [String: JSONValue] = [
        "supported_mime_types": .array(rules.mimeTypes.map { .string($0) }),
        "video_size_limit": .integer(rules.maxSize), "video_frame_rate_limit": .integer(120),
        "video_matrix_limit": .integer(Int64(rules.maxPixels)),
        "image_size_limit": .integer(16_777_216), "image_matrix_limit": .integer(33_177_600),
      ]
      let statuses: [String: JSONValue] = [
        "max_characters": .integer(Int64(rules.maxCharacters)),
        "max_media_attachments": .integer(4),
        "characters_reserved_per_url": .integer(23),
      ]
      return Reply(
        status: 200,
        body: .object([
          "version": .string("4.4.0"),
          "configuration": .object([
            "media_attachments": .object(media), "statuses": .object(statuses),
          ]),
        ])
      )
    case (.version1, _), (.none, _): return .error(404, "Not Found")
    }
  }
}
