import Glibc
package import LinuxSystem
package import Paths

/// The parts of this machine's system that every contained receiver may read.
package struct SystemLayout: Hashable, Sendable {
  /// A symbolic link at the root, as `/bin` on Debian.
  package struct Link: Hashable, Sendable {
    package let name: BytePath
    package let target: BytePath

    package init(name: BytePath, target: BytePath) {
      self.name = name
      self.target = target
    }
  }

  package var links: [Link]
  package var folders: [BytePath]
  /// Files and folders of `/etc`, never all of it.
  package var configuration: [BytePath]

  package init(links: [Link], folders: [BytePath], configuration: [BytePath]) {
    self.links = links
    self.folders = folders
    self.configuration = configuration
  }

  /// Looks at this machine.
  package static func current() throws(SystemError) -> SystemLayout {
    var layout = SystemLayout(links: [], folders: ["/usr"], configuration: [])
    for name in roots {
      switch try FileStatus.of(name)?.kind {
      case .symbolicLink: layout.links.append(Link(name: name, target: try target(of: name)))
      case .directory: layout.folders.append(name)
      case .regular, .other, nil: continue
      }
    }
    for name in configurationNames {
      let path = BytePath("/etc").appending(name)
      // What a link leads to is shown under the link's name; a dangling one is left out.
      if try FileStatus.of(path, following: true) != nil { layout.configuration.append(path) }
    }
    return layout
  }

  /// The path lies in what is shown anyway.
  package func shows(_ path: BytePath) -> Bool {
    folders.contains { path.isInside($0) } || links.contains { path.isInside($0.name) }
  }

  var arguments: [BytePath] {
    folders.flatMap { ["--ro-bind", $0, $0] }
      + links.flatMap { ["--symlink", $0.target, $0.name] }
      + configuration.flatMap { ["--ro-bind", $0, $0] }
  }

  private static let roots: [BytePath] = ["/bin", "/lib", "/lib32", "/lib64", "/libx32", "/sbin"]

  /// Names, addresses, certificates, fonts, time and the loader's cache; `/etc/ssl` holds private keys
  /// besides, so only its parts.
  private static let configurationNames: [BytePath] = [
    "alternatives", "ca-certificates", "fonts", "gai.conf", "group", "host.conf", "hosts",
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "localtime", "magic", "mime.types",
    "nsswitch.conf", "os-release", "passwd", "protocols", "resolv.conf", "services",
    "ssl/certs", "ssl/openssl.cnf", "timezone",
  ]

  private static func target(of link: BytePath) throws(SystemError) -> BytePath {
    var buffer: [CChar] = Array(repeating: 0, count: 4096)
    let count = try checked("readlink", link) {
      readlink(link.nulTerminated, &buffer, buffer.count)
    }
    return BytePath(buffer[..<count].map { UInt8(bitPattern: $0) })
  }
}
