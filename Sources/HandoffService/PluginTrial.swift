import Destinations
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Paths

/// One life of a plugin while no broker runs, started as the broker would, but with a work folder that is
/// thrown away: what it keeps in the real one is not touched.
struct PluginTrial: Sendable {
  let look: DestinationLook
  let settings: DestinationSettings
  let files: BlockingThread

  /// Starts it, asks how it is, and ends it; in a bounded time, whatever it does.
  func lines() async -> [DoctorReport.Line] {
    let folder: BytePath
    do {
      folder = try await files.run {
        try Self.makeFolder(look.host.environment["TMPDIR"] ?? "/tmp")
      }
    } catch {
      return [.warning("it could not be tried: \(error)", mend: Doctor.otherUser)]
    }
    let lines = await tried(in: folder)
    do {
      try await files.run { () throws(SystemError) in try Directory.removeTree(folder) }
    } catch {
      return lines + [
        .warning("\(folder.displayText) was left behind: \(error)", mend: "remove it")
      ]
    }
    return lines
  }

  private static func makeFolder(_ temporary: String) throws -> BytePath {
    var template = BytePath(temporary).appending("handoff-doctor-XXXXXX").nulTerminated
    guard mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp", BytePath(temporary)) }
    let folder = BytePath(template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
    for name in ["work", "grants"] {
      try Directory.createDurably(folder.appending(BytePath(name)), permissions: 0o700)
    }
    return try Directory.canonical(folder)
  }

  private func tried(in folder: BytePath) async -> [DoctorReport.Line] {
    var limits = PluginProcess.Limits()
    limits.grace = .seconds(1)
    let process = PluginProcess(
      launch: ReceiverLaunch(
        settings: settings,
        host: look.host,
        folders: ReceiverFolders(
          work: folder.appending("work"),
          grants: folder.appending("grants")
        )
      ),
      limits: limits,
      callbacks: PluginCallbacks()
    )
    return await withTaskGroup(of: [DoctorReport.Line]?.self) { group in
      group.addTask {
        // What ended it, whoever waits for it to be ready is told.
        do { try await process.run() } catch { return nil }
        return nil
      }
      group.addTask { await answer(of: process) }
      group.addTask {
        do { try await Task.sleep(for: DestinationLook.patience) } catch { return nil }
        return [
          .problem(
            "it did not say how it is within \(DestinationLook.patience)",
            mend: "look at what it waits for; `handoff plugin test` checks it"
          )
        ]
      }
      var lines: [DoctorReport.Line] = []
      for await found in group {
        guard let found, lines.isEmpty else { continue }
        lines = found
        group.cancelAll()
      }
      return lines
    }
  }

  private func answer(of process: PluginProcess) async -> [DoctorReport.Line]? {
    do {
      let introduction = try await process.ready()
      let lines = await look.ask(process, introduction, settings)
      await process.shutdown()
      return lines
    } catch let error as ResultError {
      return [
        .problem(
          "it does not start: \(error.message)",
          mend: error.remedy ?? "look at its command, its settings and what it may read and write"
        )
      ]
    } catch {
      return nil
    }
  }
}
