package import Paths

/// What a contained receiver sees of the machine, as arguments of bubblewrap; see bwrap(1).
///
/// The system is there to read, and of everything else only what is bound: so the broker's state,
/// its socket and the library are simply not there.
package struct Containment: Hashable, Sendable {
  /// A file or folder of the host that is shown.
  package struct Binding: Hashable, Sendable {
    /// Without symbolic links.
    package let source: BytePath
    /// Where the receiver finds it: the name that it was configured with.
    package let place: BytePath
    package let isWritable: Bool

    package init(source: BytePath, place: BytePath, isWritable: Bool) {
      self.source = source
      self.place = place
      self.isWritable = isWritable
    }
  }

  package var system: SystemLayout
  package var bindings: [Binding]
  /// Absolute, without symbolic links: covered where a binding would show them.
  package var hidden: [BytePath]
  package var hasNetwork: Bool
  package var workingDirectory: BytePath

  package init(
    system: SystemLayout,
    bindings: [Binding],
    hidden: [BytePath],
    hasNetwork: Bool,
    workingDirectory: BytePath
  ) {
    self.system = system
    self.bindings = bindings
    self.hidden = hidden
    self.hasNetwork = hasNetwork
    self.workingDirectory = workingDirectory
  }

  /// The options of `bwrap`, without the command.
  ///
  /// The status descriptor is one of bubblewrap's own: it writes there which process the command is,
  /// and that it has ended.
  package func options(statusDescriptor: CInt) -> [BytePath] {
    var list = Self.isolation
    if !hasNetwork { list.append("--unshare-net") }
    list += ["--json-status-fd", BytePath("\(statusDescriptor)")]
    list += system.arguments
    list += Self.ownFolders
    list += mounts.flatMap(\.arguments)
    // What no binding made stays as it is: nothing can be left there, nor memory used up.
    for place in coveredPlaces + ["/dev", "/"] { list += ["--remount-ro", place] }
    list += ["--chdir", workingDirectory]
    return list
  }

  /// What every contained receiver has, and what a machine must be able to do for it.
  package static let isolation: [BytePath] = [
    "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent",
    "--new-session", "--cap-drop", "ALL",
  ]

  /// What a receiver may keep in memory in each of its own folders; files of any size belong into its
  /// work folder, which is on a disk.
  package static let memoryFolderSize = 536_870_912

  /// Private to each receiver, and gone with it.
  package static let ownFolders: [BytePath] =
    // Files of /proc/sys are root's to write without any capability, and bubblewrap leaves them so.
    ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    + memoryFolder("/dev/shm") + memoryFolder("/tmp")

  private static func memoryFolder(_ place: BytePath) -> [BytePath] {
    ["--size", BytePath("\(memoryFolderSize)"), "--perms", "1777", "--tmpfs", place]
  }

  private enum Mount {
    case bind(Binding)
    case cover(BytePath)

    var place: BytePath {
      switch self {
      case .bind(let binding): binding.place
      case .cover(let place): place
      }
    }

    var arguments: [BytePath] {
      switch self {
      case .bind(let binding):
        [binding.isWritable ? "--bind" : "--ro-bind", binding.source, binding.place]
      case .cover(let place):
        ["--tmpfs", place]
      }
    }
  }

  /// Parents before what lies in them, because a mount hides what was mounted below its place before.
  private var mounts: [Mount] {
    var byPlace: [BytePath: Mount] = [:]
    for binding in bindings where !binding.isWritable { byPlace[binding.place] = .bind(binding) }
    for binding in bindings where binding.isWritable { byPlace[binding.place] = .bind(binding) }
    for place in coveredPlaces where byPlace[place] == nil { byPlace[place] = .cover(place) }
    return byPlace.values.sorted { left, right in
      let depths = (left.place.components.count, right.place.components.count)
      return depths.0 == depths.1 ? left.place < right.place : depths.0 < depths.1
    }
  }

  /// A place that is bound by itself is none: its own mount lies over the cover.
  private var coveredPlaces: [BytePath] {
    let places = bindings.flatMap { binding in
      hidden.compactMap { $0.relative(to: binding.source).map(binding.place.appending) }
    }
    let bound = Set(bindings.map(\.place))
    return Set(places).subtracting(bound).sorted()
  }
}

extension Containment {
  /// How a receiver sees a place.
  package enum Sight: Hashable, Sendable {
    case writable
    case readOnly
    /// It is the broker's own, and never shown.
    case hidden
    /// In this folder, which is the receiver's own: empty at its start, and of the machine's nothing.
    case own(BytePath)
    case none
  }

  private static let privatePlaces: [BytePath] = ["/dev/shm", "/proc", "/tmp"]

  /// How the receiver sees a path of its own names.
  package func sight(of path: BytePath) -> Sight {
    let deepest = mounts.last { path.isInside($0.place) }
    switch deepest {
    case .cover: return .hidden
    case .bind(let binding): return binding.isWritable ? .writable : .readOnly
    case nil: break
    }
    if hidden.contains(where: { path.isInside($0) }) { return .hidden }
    if let place = Self.privatePlaces.first(where: { path.isInside($0) }) { return .own(place) }
    let isOfSystem =
      system.shows(path) || system.configuration.contains { path.isInside($0) }
    return isOfSystem ? .readOnly : .none
  }
}
