import HandoffProtocol

/// What is wrong with a URL in the configuration (RFC 3986, as far as a typing mistake goes).
enum WebAddress {
  /// A sentence, or nil for a URL that may be used.
  ///
  /// An empty list of schemes allows any but `javascript`, `data` and `file`.
  static func fault(_ text: String, schemes: [String] = ["https", "http"]) -> String? {
    guard let colon = text.firstIndex(of: ":"), isScheme(text[..<colon]) else {
      return "no URL: it has no scheme"
    }
    let scheme = text[..<colon].lowercased()
    if schemes.isEmpty {
      if ["javascript", "data", "file"].contains(scheme) {
        return "a \(scheme) URL is not allowed"
      }
    } else if !schemes.contains(scheme) {
      return "no \(schemes.joined(separator: " or ")) URL"
    }
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      return "a URL has printable ASCII characters only"
    }
    let rest = text[text.index(after: colon)...]
    guard rest.hasPrefix("//") else {
      return schemes.isEmpty ? nil : "no URL: it has no host"
    }
    let authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }
    if authority.contains("@") { return "a URL here holds no user name or password" }
    return authority.isEmpty && !schemes.isEmpty ? "no URL: it has no host" : nil
  }

  /// What a URL ends with that has no meaning where it stands; nil if there is nothing of it.
  static func addition(to text: String, _ marks: Set<Character>) -> String? {
    guard let mark = text.first(where: { marks.contains($0) }) else { return nil }
    return "a URL here has no \(mark == "#" ? "fragment" : "query") (\(mark))"
  }

  /// Whether this is what `Host` can hold before its port: a name or an address.
  static func isHost(_ text: String) -> Bool {
    if text.contains(":") {
      // An address of IPv6 has two colons at least; one is that of a port.
      let inner =
        text.hasPrefix("[") && text.hasSuffix("]") ? text.dropFirst().dropLast() : text[...]
      return inner.count { $0 == ":" } > 1
        && inner.utf8.allSatisfy { $0.isLetterOrDigit || ".:".utf8.contains($0) }
    }
    return !text.isEmpty && text.utf8.allSatisfy { $0.isLetterOrDigit || ".-_".utf8.contains($0) }
  }

  private static func isScheme(_ text: Substring) -> Bool {
    let allowed = text.utf8.allSatisfy { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
    return allowed && text.first?.isLetter == true
  }
}
