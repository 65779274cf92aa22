import Digests
import FoundationEssentials
import HandoffProtocol

/// A whole HTML document that asks nobody for anything but the files beside it.
struct PageShell {
  let title: String
  var head: PageMarkup = ""
  /// Style sheets, in order.
  let style: [String]
  /// Scripts, in order, that share one scope.
  let script: [String]
  let body: PageMarkup

  private static let icon = """
    data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E\
    %3Crect width='16' height='16' rx='4' fill='%230a58ca'/%3E\
    %3Cpath d='M6 4.5v7L11.5 8z' fill='%23fff'/%3E%3C/svg%3E
    """

  /// The document.
  func html() throws -> String {
    let style = self.style.joined(separator: "\n")
    let script = "\"use strict\";\n(() => {\n\(self.script.joined(separator: "\n"))\n})();"
    let policy = try Self.policy(style: style, script: script)
    let document: PageMarkup = """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="\(verbatim: policy)">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="dark light">
      <meta name="referrer" content="no-referrer">
      <meta name="robots" content="noindex">
      \(head)
      <title>\(title)</title>
      <link rel="icon" href="\(verbatim: Self.icon)">
      <style>\(verbatim: style)</style>
      </head>
      <body>
      \(body)
      <script>\(verbatim: script)</script>
      </body>
      </html>

      """
    return document.text
  }

  /// Nothing but these two texts, and pictures and videos of the same place; no connection at all.
  ///
  /// `file:` is there because a page that is opened from a folder has no origin that `'self'` could mean.
  private static func policy(style: String, script: String) throws -> String {
    """
    default-src 'none'; img-src 'self' file: data:; media-src 'self' file:; \
    style-src 'sha256-\(try digest(style))'; script-src 'sha256-\(try digest(script))'; \
    base-uri 'none'; form-action 'none'
    """
  }

  private static func digest(_ text: String) throws -> String {
    Data(try SHA256.digest(of: Array(text.utf8))).base64EncodedString()
  }
}
