import HandoffProtocol

extension StandInAccount {
  private static let visibilities = ["public", "unlisted", "private", "direct"]
  private static let lead = Duration.seconds(5 * 60)

  func publish(_ question: Question, _ state: inout State) -> Reply {
    if rules.honoursKeys, let key = question.key {
      if let earlier = state.statuses.first(where: { $0.key == key }) {
        return Reply(status: 200, body: document(earlier, state.port))
      }
      if let earlier = state.scheduled.first(where: { $0.status.key == key }) {
        return Reply(status: 200, body: document(earlier))
      }
    }
    guard case .array(let list) = question.body["media_ids"] ?? .null, !list.isEmpty else {
      return .error(422, "Validation failed: nothing attached")
    }
    let ids = list.compactMap(\.text)
    if let refusal = refusal(of: ids, state) ?? refusal(of: question.body) { return refusal }
    let moment: Timestamp?
    do throws(Refused) {
      moment = try self.moment(question.body["scheduled_at"])
    } catch {
      return error.reply
    }
    return commit(question, ids, moment, &state)
  }

  /// Does what was worked on, now that its time has come; it was checked when it came.
  func doLate(_ state: inout State) {
    let due = state.late.filter { $0.due <= .now }
    state.late.removeAll { $0.due <= .now }
    for (question, _) in due {
      guard case .array(let ids)? = question.body["media_ids"] else { continue }
      _ = commit(question, ids.compactMap(\.text), nil, &state)
    }
  }

  private func commit(
    _ question: Question,
    _ ids: [String],
    _ moment: Timestamp?,
    _ state: inout State
  ) -> Reply {
    for id in ids { state.media[id]?.isAttached = true }
    let status = PublishedStatus(
      id: state.nextID(),
      text: question.body["status"]?.text ?? "",
      mediaIDs: ids,
      visibility: question.body["visibility"]?.text ?? "public",
      language: question.body["language"]?.text,
      key: question.key,
      createdAt: (moment ?? Self.now()).rfc3339
    )
    guard let moment else {
      state.statuses.append(status)
      return Reply(status: 200, body: document(status, state.port))
    }
    let post = ScheduledPost(id: state.nextID(), moment: moment.rfc3339, status: status)
    state.scheduled.append(post)
    return Reply(status: 200, body: document(post))
  }

  private struct Refused: Error {
    let reply: Reply
  }

  /// Nil for at once: also where the moment has passed.
  private func moment(_ value: JSONValue?) throws(Refused) -> Timestamp? {
    guard let value, value != .null else { return nil }
    guard rules.schedules else { throw Refused(reply: .error(501, "Not Implemented")) }
    guard let moment = value.text.flatMap({ Timestamp(rfc3339: $0) }) else {
      throw Refused(reply: .error(422, "Validation failed: Scheduled at is not a date"))
    }
    if moment <= Self.now() { return nil }
    guard moment.since(Self.now()) >= Self.lead else {
      throw Refused(
        reply: .error(
          422,
          "Validation failed: Scheduled at The scheduled date must be in the future"
        )
      )
    }
    return moment
  }

  private func refusal(of ids: [String], _ state: State) -> Reply? {
    for id in ids {
      guard let medium = state.media[id], !medium.isAttached else {
        let isThere = state.media[id] != nil
        return rules.honoursKeys || !isThere
          ? .error(422, "Media \(id) not found or already attached to another post")
          : .error(400, "Bad Request: media already attached to a status")
      }
      guard medium.pollsLeft == 0 else {
        return .error(
          422,
          "Cannot attach files that have not finished processing. Try again in a moment!"
        )
      }
    }
    return nil
  }

  private func refusal(of body: JSONValue) -> Reply? {
    if let visibility = body["visibility"]?.text, !Self.visibilities.contains(visibility) {
      return .error(422, "Validation failed: Visibility is not included in the list")
    }
    let length = body["status"]?.text?.count ?? 0
    guard length > rules.maxCharacters else { return nil }
    return .error(
      422,
      "Validation failed: Text character limit of \(rules.maxCharacters) exceeded"
    )
  }

  func list(_ question: Question, _ state: State) -> Reply {
    let former = state.statuses.prefix(state.formerStatuses)
    let own = state.statuses.dropFirst(state.formerStatuses)
    guard question.subject == "1" || question.subject == state.accountID else {
      return .error(404, "Record not found")
    }
    let statuses = question.subject == state.accountID ? own : former
    let page = Self.page(question, Array(statuses), id: \.id)
    return Reply(status: 200, body: .array(page.map { document($0, state.port) }))
  }

  func scheduled(_ id: String, _ state: State) -> Reply {
    guard let post = state.scheduled.first(where: { $0.id == id }) else {
      return .error(404, "Record not found")
    }
    return Reply(status: 200, body: document(post))
  }

  func scheduledList(_ question: Question, _ state: State) -> Reply {
    let page = Self.page(question, state.scheduled, id: \.id)
    return Reply(status: 200, body: .array(page.map { document($0) }))
  }

  /// Newest first, older than what is asked for.
  private static func page<Element>(
    _ question: Question,
    _ all: [Element],
    id: (Element) -> String
  ) -> [Element] {
    let limit = question.olderThan.flatMap { Int($0) } ?? .max
    let older = all.filter { (Int(id($0)) ?? 0) < limit }
    return older.suffix(min(question.limit, 40)).reversed()
  }

  private func document(_ status: PublishedStatus, _ port: UInt16) -> JSONValue {
    .object([
      "id": .string(status.id),
      "created_at": .string(status.createdAt),
      "url": .string("http://127.0.0.1:\(port)/@demo/\(status.id)"),
      "visibility": .string(status.visibility),
      "content": .string(status.text),
      "media_attachments": .array(status.mediaIDs.map { attachment($0, isReady: true) }),
    ])
  }

  private func document(_ post: ScheduledPost) -> JSONValue {
    .object([
      "id": .string(post.id),
      "scheduled_at": .string(post.moment),
      "params": .object([
        "text": .string(post.status.text), "visibility": .string(post.status.visibility),
        "media_ids": .array(post.status.mediaIDs.map { .string($0) }),
      ]),
      "media_attachments": .array(post.status.mediaIDs.map { attachment($0, isReady: true) }),
    ])
  }
}
