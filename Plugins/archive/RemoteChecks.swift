import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// What `handoff doctor` is told of a remote.
///
/// Nothing is written there, so whether the account may write is found out by the first copy only.
struct RemoteChecks: Sendable {
  let remote: Remote

  func all() async -> [DestinationCheck] {
    var checks = [await program(), credentials]
    let reached = await reachable()
    checks.append(reached)
    guard reached.passed else { return checks }
    do {
      let features = try await remote.features()
      checks.append(proof(features))
      if features.tellsSpace { checks.append(try await space()) }
    } catch {
      checks.append(DestinationCheck("limits", passed: false, "\(error)"))
    }
    return checks
  }

  private func program() async -> DestinationCheck {
    let place = remote.rclone.program.displayText
    do {
      let ended = try await remote.rclone.run(["version"])
      let line = String(decoding: ended.output.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      guard ended.isSuccess else {
        return DestinationCheck("program", passed: false, "\(place) version: \(ended.status)")
      }
      return DestinationCheck("program", passed: true, "\(place), \(line)")
    } catch {
      return DestinationCheck("program", passed: false, "\(place): \(error)")
    }
  }

  private var credentials: DestinationCheck {
    let config = remote.rclone.config
    let path = config.path.displayText
    if config.isOpenToOthers {
      return DestinationCheck(
        "credentials",
        passed: false,
        "others than its owner may read or write \(path)",
        remedy: "chmod 600 \(path)"
      )
    }
    let kind = config.isEncrypted ? "is encrypted" : "has [\(remote.address.name)]"
    return DestinationCheck("credentials", passed: true, "\(path) \(kind)")
  }

  private func reachable() async -> DestinationCheck {
    do {
      guard try await remote.hasRoot() else {
        return DestinationCheck(
          "reachable",
          passed: false,
          "\(remote.address) is not there",
          remedy: "Make the bucket or folder: it is never made by itself."
        )
      }
      // An S3 service answers for a prefix of nothing, too; only a listing finds out whether it may be listed.
      _ = try await remote.files(in: "", named: [Manifest.name.lossyText])
      return DestinationCheck("reachable", passed: true, "\(remote.address) answers")
    } catch let error as ResultError {
      return DestinationCheck("reachable", passed: false, "\(error)", remedy: error.remedy)
    } catch {
      return DestinationCheck("reachable", passed: false, "\(error)")
    }
  }

  private func proof(_ features: RemoteFeatures) -> DestinationCheck {
    let usable = RemoteSums.names.filter(features.hashes.contains)
    let own = RemoteProof.isReceiversOwn(features.kind, isOwnUpload: true)
    let told = usable.first ?? "no digest of use"
    switch remote.policy {
    case .download:
      return DestinationCheck(
        "proof",
        passed: true,
        "every copy is downloaded and its SHA-256 compared"
      )
    case .server:
      return DestinationCheck(
        "proof",
        passed: !usable.isEmpty,
        "\(features.kind) tells \(told); settings.verify = server asks for no more",
        remedy: usable.isEmpty ? "Set verify to auto." : nil
      )
    case .auto where own && !usable.isEmpty:
      let rest =
        features.kind == "s3" ? ", uploads in parts are downloaded and their SHA-256 compared" : ""
      return DestinationCheck(
        "proof",
        passed: true,
        "copies are proven by the server's \(told)\(rest)"
      )
    case .auto:
      return DestinationCheck(
        "proof",
        passed: true,
        "\(features.kind) has no digest of its own making: every copy is downloaded and its SHA-256 compared"
      )
    }
  }

  private func space() async throws -> DestinationCheck {
    let words: [BytePath] = ["about", "--json", BytePath(remote.address.description)]
    let answer = try await remote.json(words, "asking for the space")
    guard let free = answer["free"]?.integer else {
      return DestinationCheck("space", passed: true, "the remote does not tell its free space")
    }
    return DestinationCheck("space", passed: free > 0, "\(free / 1_000_000) MB are free")
  }
}
