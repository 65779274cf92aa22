package import HandoffProtocol
import LinuxSystem
package import Paths

/// Where the broker keeps what is its own; see CONTRACT.md, `[broker] state`.
package struct StateFolder: Sendable {
  /// Absolute.
  package let path: BytePath

  package init(_ path: BytePath) {
    self.path = path
  }

  /// Held by a kernel lock while a broker runs: one broker a state folder.
  package var lock: BytePath { path.appending("broker.lock") }
  /// The control socket, mode 0600.
  package var socket: BytePath { path.appending("handoff.sock") }
  /// The address that the HTTP API has, while it has one.
  package var apiAddress: BytePath { path.appending("api-address") }
  /// A private directory through which the inotify thread is woken.
  package var watchControl: BytePath { path.appending("watch") }

  /// What the broker has loaded last; see ``LoadedConfiguration``.
  package var loadedConfiguration: BytePath { path.appending("loaded.json") }
  /// A note for each import that is under way, which outlives a crash of the broker.
  package var imports: BytePath { path.appending("imports") }

  /// Where a rebuild makes the new ledger.
  package var rebuilding: BytePath { path.appending("ledger-rebuild") }

  /// What a destination's receiver may write.
  package func work(_ destination: DestinationName) -> BytePath {
    path.appending("work").appending(destination.text)
  }
}

extension StateFolder {
  /// Removes what a broker has left that was killed while it wrote a small file; the caller holds the lock.
  func removeUnfinished() throws(SystemError) {
    // The folder itself may be a symbolic link, which a person made.
    let folder = try Directory.canonical(path)
    for entry in try Directory.entries(of: folder)
    where entry.name.bytes.first == UInt8(ascii: ".") && entry.name.lossyText.hasSuffix(".tmp") {
      try DurableFile.unlink(folder.appending(entry.name))
    }
  }
}
