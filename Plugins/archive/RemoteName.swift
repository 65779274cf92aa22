import Paths

/// Names as services and rclone's answers carry them: UTF-8 without control characters.
enum RemoteName {
  /// The name with `_` for each control character and for what is no UTF-8.
  static func text(_ name: BytePath) -> String {
    var text = ""
    for scalar in name.lossyText.unicodeScalars {
      let isBad = scalar == "\u{FFFD}" || LayoutName.isControl(scalar)
      text.unicodeScalars.append(isBad ? "_" : scalar)
    }
    return text
  }

  /// The path of something in a folder; the folder may be empty.
  static func path(_ folder: String, _ name: String) -> String {
    folder.isEmpty ? name : "\(folder)/\(name)"
  }
}
