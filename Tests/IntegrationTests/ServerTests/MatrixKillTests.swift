import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension ServerTests.Matrix {
  @Test(
    "killed at every step, the plugin publishes exactly once",
    .timeLimit(.minutes(2)),
    arguments: [("http.send", MatrixDelivery.requests), ("http.answer", 14), ("journal", 5)]
  )
  func killed(point: String, steps: Int) async throws {
    let poster = try await MatrixUser.make(try Synapse.shared, "killed")
    let killed = try await KillWalk(point: point).run { faults in
      let delivery = try await MatrixDelivery(poster)
      let ended = try await delivery.plugin.deliverOverCrashes(
        delivery.submission(),
        delivery.file.grants,
        faults: faults
      )
      try await delivery.expectOne(ended.outcome, "\(faults)")
      return ended.processes
    }
    print("Matrix: killed at \(killed) passes of \(point)")
    #expect(killed == steps)
  }

  @Test(
    "the broker is killed with the plugin between every two requests: published exactly once",
    .timeLimit(.minutes(3))
  )
  func brokerKilled() async throws {
    let poster = try await MatrixUser.make(try Synapse.shared, "survivor")
    let room = try await poster.room()
    var place = MatrixPlace("room", room, poster.token)
    place.more = "env = [\"HANDOFF_FAULT\"]"
    try await MatrixPlace.run([place], handoff: ["room"], starting: false) { scene in
      var killed = 0
      for ordinal in 1...40 {
        let faulty = try RunningBroker(
          root: scene.broker.root,
          configuration: try MatrixPlace.configuration([place], handoff: ["room"]),
          environment: ["HANDOFF_FAULT=http.send:\(ordinal):stop"]
        )
        try await faulty.start()
        try scene.write(try await Scene.video(UInt64(ordinal)), to: BytePath("clip-\(ordinal).mp4"))
        let isStopped = try await poll(within: .seconds(30)) { () -> Bool? in
          if try StoppedProcess.isBelow(try #require(faulty.processID)) { return true }
          return try await faulty.succeeded() == ordinal ? false : nil
        }
        await faulty.end(SIGKILL)
        let said = try faulty.tail()
        try #require(isStopped != nil, "neither stopped nor done: \(said)")
        if isStopped == false { break }
        killed = ordinal
        try await scene.broker.start()
        let count = try await poll(within: .seconds(60)) {
          try await scene.broker.succeeded() == ordinal ? true : nil
        }
        let log = try scene.broker.tail()
        #expect(count == true, "killed before request \(ordinal): \(log)")
        #expect(try await poster.videos(in: room).count == ordinal, "killed at \(ordinal)")
        await scene.broker.end(SIGKILL)
      }
      print("Matrix: broker and plugin killed before \(killed) requests")
      #expect(killed == MatrixDelivery.requests)
      let videos = try await poster.videos(in: room)
      let keys = Set(videos.compactMap { $0["content"]?["handoff.key"]?.text })
      #expect(keys.count == videos.count)
      try await scene.broker.start()
      let handoffs = try await scene.broker.json("handoffs").elements
      let told = Set(handoffs.compactMap { $0["output"]?["id"]?.text })
      #expect(told == Set(videos.compactMap { $0["event_id"]?.text }))
    }
  }

  @Test("the server dies over the upload: nothing is said to be done", .timeLimit(.minutes(1)))
  func serverDiesOverUpload() async throws {
    let synapse = try Synapse.shared
    let poster = try await MatrixUser.make(synapse, "upload")
    let delivery = try await MatrixDelivery(poster, video: .pattern(9, count: 12_000_000))
    let fault = "http.send:\(MatrixDelivery.upload):stop"
    let outcome = try await delivery.plugin.run(fault: fault) { broker, process in
      try await delivery.begin(broker)
      try await StoppedProcess.wait(for: process.id)
      synapse.signal(SIGSTOP)
      kill(process.id, SIGCONT)
      let hasCome = try await poll(every: .milliseconds(2)) { try synapse.hasUnread ? true : nil }
      #expect(hasCome == true)
      // It reads a part of what is more than the kernel holds, at most.
      synapse.signal(SIGCONT)
      await synapse.kill()
      return try await broker.nextResult().outcome
    }
    #expect(outcome.failure?.code == .network, "\(outcome)")
    #expect(outcome.failure?.effect == Effect.none)
    #expect(outcome.failure?.retry == .later)
    try await synapse.start()
    #expect(try await poster.videos(in: delivery.room).isEmpty)
    try await delivery.expectOne(try await delivery.again())
  }

  @Test(
    "the server dies over the message, and comes back: published exactly once",
    .timeLimit(.minutes(1)),
    arguments: [false, true]
  )
  func serverDiesOverMessage(hasRead: Bool) async throws {
    let synapse = try Synapse.shared
    let poster = try await MatrixUser.make(synapse, "message")
    let delivery = try await MatrixDelivery(poster, interval: 2)
    let fault = "http.send:\(MatrixDelivery.requests):stop"
    let outcome = try await delivery.plugin.run(fault: fault) { broker, process in
      try await delivery.begin(broker)
      try await StoppedProcess.wait(for: process.id)
      synapse.signal(SIGSTOP)
      kill(process.id, SIGCONT)
      let hasCome = try await poll(every: .milliseconds(2)) { try synapse.hasUnread ? true : nil }
      #expect(hasCome == true)
      if hasRead {
        // It dies while it works on it.
        synapse.signal(SIGCONT)
        _ = try await poll(every: .milliseconds(1)) { try synapse.hasUnread ? nil : true }
      }
      await synapse.kill()
      try await synapse.start()
      return try await broker.nextResult().outcome
    }
    try await delivery.expectOne(outcome)
  }

  @Test("an upload that has arrived is not sent again", .timeLimit(.minutes(1)))
  func uploaded() async throws {
    let poster = try await MatrixUser.make(try Synapse.shared, "uploaded")
    let delivery = try await MatrixDelivery(poster)
    try await delivery.die(at: "http.answer:\(MatrixDelivery.upload):kill")
    try await delivery.expectOne(try await delivery.again())
    #expect(try await poster.uploads() == 1)
  }

  /// Synapse says 409 M_CANNOT_OVERWRITE_MEDIA also for two minutes after a worker has died over an upload.
  @Test(
    "an upload that the server holds back is not taken for a whole one",
    .timeLimit(.minutes(1))
  )
  func heldBack() async throws {
    let synapse = try Synapse.shared
    let poster = try await MatrixUser.make(synapse, "held")
    let delivery = try await MatrixDelivery(poster)
    try await delivery.die(at: "http.send:\(MatrixDelivery.upload):kill")
    try await synapse.holdUploads(of: poster.id)
    try await delivery.expectOne(try await delivery.again())
    // The one that is held, and another.
    #expect(try await poster.uploads() == 2)
  }
}

extension RunningBroker {
  /// How many handoffs have succeeded.
  fileprivate func succeeded() async throws -> Int {
    try await json("handoffs").elements.count { $0["status"]?.text == "succeeded" }
  }
}
