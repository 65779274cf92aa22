import HandoffCore
import HandoffProtocol
import Paths

extension Configuration {
  /// Every setting that is in force, as TOML, each with the line of the file that it comes from.
  ///
  /// Where the file says nothing, `default` stands instead of the line. Secrets are shown as the references that they are; paths are absolute.
  package var effectiveText: String {
    var writer = EffectiveWriter(places: places)
    broker.write(to: &writer)
    library.write(to: &writer)
    for (index, folder) in dropFolders.enumerated() {
      folder.write(to: &writer, path: "drop_folder[\(index)]")
    }
    for destination in destinations {
      destination.write(to: &writer)
    }
    for callback in callbacks.values.sorted(by: { $0.id.text < $1.id.text }) {
      callback.write(to: &writer)
    }
    for profile in writers { profile.write(to: &writer) }
    return writer.text
  }
}

extension BrokerSettings {
  fileprivate func write(to writer: inout EffectiveWriter) {
    writer.table("[broker]", path: "broker")
    writer.line("state", text: state.lossyText)
    writer.line("listen", text: listen?.description)
    writer.line("token_file", text: tokenFile?.lossyText)
    writer.line("public_url", text: publicURL)
    writer.line("allowed_hosts", texts: allowedHosts)
    writer.line("group", text: group)
    writer.line("alert", text: alert?.text)
    writer.line("history", text: history.map(Quantities.text) ?? "keep")
    writer.line("crash_limit", crashLimit)
  }
}

extension LibrarySettings {
  fileprivate func write(to writer: inout EffectiveWriter) {
    writer.table("[library]", path: "library")
    writer.line("path", text: path.lossyText)
    switch reserve {
    case .percent(let percent):
      let isWhole = percent == percent.rounded()
      writer.line("reserve", text: isWhole ? "\(Int(percent))%" : "\(percent)%")
    case .bytes(let bytes):
      writer.line("reserve", text: Quantities.text(bytes))
    }
    writer.line("retention", text: retention.map(Quantities.text) ?? "keep")
    writer.line("verify_every", text: verifyEvery.map(Quantities.text))
  }
}

extension DropFolderSettings {
  fileprivate func write(to writer: inout EffectiveWriter, path place: String) {
    writer.table("[[drop_folder]]", path: place)
    writer.line("path", text: path.lossyText)
    writer.line("recursive", recursive)
    writer.line("existing", text: existing.rawValue)
    writer.line("quiet", quiet)
    writer.line("quiet_poll", quietPoll)
    writer.line("proof", text: proof.rawValue)
    writer.line("give_up", giveUp)
    writer.line("watch", text: watch.rawValue)
    writer.line("poll_interval", pollInterval)
    writer.line("ignore", texts: ignore)
    writer.line("prefer", texts: prefer)
    writer.line("prefer_wait", preferWait)
    writer.line("sidecar_wait", sidecarWait)
    writer.line("package", package)
    writer.line("original", text: original.rawValue)
    writer.line("original_when", text: originalWaitsForHandoffs ? "handed_off" : "imported")
    writer.line("move_to", text: moveTo?.lossyText)
    writer.line("handoff", texts: handoff.map(\.text))
    writer.line("sync_publish_to", texts: syncPublishTo.map(\.text))
    writer.line("publish_by_default", publishByDefault)
    writer.line("on_supersede", text: onSupersede.rawValue)
    writer.line("callback", text: callback?.text)
  }
}

extension DestinationSettings {
  fileprivate func write(to writer: inout EffectiveWriter) {
    let place = "destination.\(name)"
    writer.table("[\(place)]", path: place)
    writer.line("transport", text: transport.rawValue)
    writeReceiver(to: &writer)
    writer.line("idle", idle)
    writer.line("ceiling", ceiling)
    let times = [("for", retry.limit), ("first", retry.first), ("max", retry.maximum)]
    let retryText = times.map { "\($0) = \(EffectiveWriter.quoted(Quantities.text($1)))" }
    writer.line("retry", "{ \(retryText.joined(separator: ", ")) }")
    writer.line("concurrency", concurrency)
    writer.line("quota", text: quota.map { "\($0.count)/\(Quantities.text($0.duration))" })
    writer.line("after", texts: after.map(\.text))
    writer.line("use", text: rendition?.text ?? "original")
    writer.line("approval", approval)
    writer.line("folders", texts: folders.map(\.lossyText))
    writer.line("protocol_versions", "\(protocolVersions)")
    writeConstraints(to: &writer)
    guard case .object(let members) = settings, !members.isEmpty else { return }
    writer.table("[\(place).settings]", path: "\(place).settings")
    for (key, value) in members.sorted(by: { $0.key < $1.key }) {
      writer.line(key, plain: value)
    }
  }

  private func writeReceiver(to writer: inout EffectiveWriter) {
    switch transport {
    case .plugin, .exec:
      writer.line("command", texts: command)
      writer.line("containment", text: containment.rawValue)
      writer.line("network", network)
      writer.line("read", texts: read.map(\.lossyText))
      writer.line("write", texts: write.map(\.lossyText))
      writer.line("env", texts: env)
    case .http:
      writer.line("url", text: url)
      writer.line("answer", text: answer.rawValue)
      writer.line("secret", secret: secret)
      writer.line("old_secret", secret: oldSecret)
      writer.line("idempotent", retry.repeatsUnknown)
    case .url:
      writer.line("url", text: url)
      writer.line("command", texts: command)
      writer.line("env", texts: env)
    case .file:
      writer.line("inbox", text: inbox?.lossyText)
    }
  }

  private func writeConstraints(to writer: inout EffectiveWriter) {
    guard constraints != Constraints() else { return }
    let place = "destination.\(name).constraints"
    func duration(_ seconds: Double?) -> String? {
      seconds.map { EffectiveWriter.quoted(Quantities.text(.seconds($0))) }
    }
    func list(_ texts: [String]?) -> String? {
      texts.map { "[" + $0.map(EffectiveWriter.quoted).joined(separator: ", ") + "]" }
    }
    writer.table("[\(place)]", path: place)
    writer.line("min_duration", duration(constraints.minDuration))
    writer.line("max_duration", duration(constraints.maxDuration))
    let size = constraints.maxSize.map { EffectiveWriter.quoted(Quantities.text($0)) }
    writer.line("max_size", size)
    writer.line("max_count", constraints.maxCount.map(String.init))
    writer.line("video_codecs", list(constraints.videoCodecs))
    writer.line("containers", list(constraints.containers))
    writer.line("max_width", constraints.maxWidth.map(String.init))
    writer.line("max_height", constraints.maxHeight.map(String.init))
  }
}

extension CallbackSettings {
  fileprivate func write(to writer: inout EffectiveWriter) {
    writer.table("[callback.\(id)]", path: "callback.\(id)")
    switch action {
    case .exec(let command): writer.line("exec", texts: command)
    case .url(let url): writer.line("url", text: url)
    case .open(let url):
      writer.line("open", text: url)
      writer.line("command", texts: command)
    case .file(let path): writer.line("file", text: path.lossyText)
    }
    writer.line("secret", secret: secret)
    writer.line("old_secret", secret: oldSecret)
  }
}

extension WriterProfile {
  fileprivate func write(to writer: inout EffectiveWriter) {
    writer.table("[writer.\(name)]", path: "writer.\(name)")
    let lists = [
      ("temporary", temporary), ("folders", folders), ("unfinished", unfinished),
      ("remuxed", remuxed), ("names", names),
    ]
    for (key, texts) in lists where !texts.isEmpty { writer.line(key, texts: texts) }
    if let quiet { writer.line("quiet", quiet) }
  }
}
