import Glibc

/// The environment that this process was started with.
enum ProcessEnvironment {
  static var values: [String: String] {
    var values: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let parts = String(cString: text).split(separator: "=", maxSplits: 1)
      if let name = parts.first { values[String(name)] = parts.count == 2 ? String(parts[1]) : "" }
      entry += 1
    }
    return values
  }
}
