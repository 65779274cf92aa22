import HandoffCore
import HandoffProtocol
import Paths

extension DropFolderSettings {
  private enum OriginalWhen: String, CaseIterable {
    case imported
    case handedOff = "handed_off"
  }

  init(from reader: TableReader) {
    self.init(path: BytePath([]))
    reader.read("path", into: &path)
    if !reader.has("path") { reader.report("path", "missing: which folder is watched?") }
    readDetection(from: reader)
    readOriginal(from: reader)
    reader.read("handoff", into: &handoff)
    reader.read("sync_publish_to", into: &syncPublishTo)
    reader.read("publish_by_default", into: &publishByDefault)
    reader.read("on_supersede", into: &onSupersede)
    callback = reader.callbackID("callback")
    if publishByDefault, syncPublishTo.isEmpty {
      reader.report("publish_by_default", "true, but sync_publish_to names no destination")
    }
    reader.finish()
  }

  private mutating func readDetection(from reader: TableReader) {
    let day: Duration = .seconds(86_400)
    reader.read("recursive", into: &recursive)
    reader.read("existing", into: &existing)
    reader.read("quiet", into: &quiet, in: .zero...day)
    reader.read("quiet_poll", into: &quietPoll, in: .milliseconds(100)...day)
    reader.read("proof", into: &proof)
    reader.read("give_up", into: &giveUp, in: .seconds(1)...Quantities.longest)
    reader.read("watch", into: &watch)
    reader.read("poll_interval", into: &pollInterval, in: .milliseconds(100)...day)
    reader.read("ignore", into: &ignore)
    readPreference(from: reader)
    reader.read("sidecar_wait", into: &sidecarWait, in: .zero...day)
    reader.read("package", into: &package)
    if package, !recursive {
      reader.report("package", "true, but recursive = false: no directory is looked into")
    }
  }

  private mutating func readPreference(from reader: TableReader) {
    reader.read("prefer", into: &prefer)
    reader.read("prefer_wait", into: &preferWait, in: .zero...Quantities.longest)
    for (index, container) in prefer.enumerated() {
      let path = "\(reader.name("prefer"))[\(index)]"
      if container.contains(where: { $0 == "." || $0 == "/" || $0 == "*" }) {
        reader.context.report("\(path): an extension is expected, as \"mp4\"", at: path)
      } else if prefer[..<index].contains(container) {
        reader.context.report("\(path): \(container.quoted) stands in the list twice", at: path)
      }
    }
  }

  private mutating func readOriginal(from reader: TableReader) {
    reader.read("original", into: &original)
    var when = OriginalWhen.imported
    reader.read("original_when", into: &when)
    originalWaitsForHandoffs = when == .handedOff
    moveTo = reader.optionalPath("move_to")
    if original == .move, moveTo == nil {
      reader.report("move_to", "missing: where do originals go?")
    }
    if original != .move, moveTo != nil {
      reader.report("move_to", "only with original = \"move\"")
    }
  }
}
