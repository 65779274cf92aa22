import HandoffPluginKit
import HandoffProtocol
import Paths

/// The page of one preview: it needs nothing but the two pictures beside it.
struct PreviewPage {
  let known: PreviewFacts

  init(facts: PreviewFacts) {
    known = facts
  }

  /// The document.
  var html: String {
    let name = Self.escaped(known.title)
    let rows = facts.map { "<dt>\($0)</dt><dd>\(Self.escaped($1))</dd>" }.joined(separator: "\n")
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy"
        content="default-src 'none'; img-src 'self' file:; style-src 'unsafe-inline'">
      <title>\(name)</title>
      <style>
      body { margin: 2rem auto; max-width: 80rem; padding: 0 1rem; font: 1rem/1.5 sans-serif;
        color-scheme: light dark }
      img { max-width: 100%; height: auto }
      dl { display: grid; grid-template-columns: max-content auto; gap: .25rem 1rem }
      dt { opacity: .7 }
      dd { margin: 0; overflow-wrap: anywhere }
      </style>
      </head>
      <body>
      <h1>\(name)</h1>
      <img src="\(Preview.poster)" alt="A picture from the video">
      <h2>Contact sheet</h2>
      <img src="\(Preview.contactSheet)" alt="Pictures from the whole video">
      <h2>Facts</h2>
      <dl>
      \(rows)
      </dl>
      </body>
      </html>

      """
  }

  private var facts: [(String, String)] {
    var facts: [(String, String)] = []
    if let duration = known.duration { facts.append(("Duration", Self.time(duration))) }
    if let video = known.video.first {
      facts.append(("Picture", "\(video.displayWidth) × \(video.displayHeight)"))
      facts.append(("Video codec", video.codec))
    }
    if let container = known.container { facts.append(("Container", container)) }
    facts.append(("Size", "\(known.size) bytes"))
    facts.append(("File", known.fileName))
    facts.append(("SHA-256", known.sha256))
    facts.append(("Asset", known.localIdentifier))
    return facts
  }

  /// Hours, minutes, seconds and thousandths.
  private static func time(_ seconds: Double) -> String {
    let whole = Int64((seconds * 1000).rounded())
    func pad(_ value: Int64, _ width: Int) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    let (hours, minutes) = (whole / 3_600_000, whole / 60_000 % 60)
    return "\(hours):\(pad(minutes, 2)):\(pad(whole / 1000 % 60, 2)).\(pad(whole % 1000, 3))"
  }

  /// Text that cannot become markup, in content or in attributes.
  static func escaped(_ text: String) -> String {
    var safe = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": safe += "&amp;"
      case "<": safe += "&lt;"
      case ">": safe += "&gt;"
      case "\"": safe += "&quot;"
      case "'": safe += "&#39;"
      default: safe.unicodeScalars.append(character)
      }
    }
    return safe
  }
}
