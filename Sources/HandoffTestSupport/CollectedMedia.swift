import Glibc
import LinuxSystem
package import Paths

/// The collected real files, where they are laid beside the project (continuous integration has them).
package enum CollectedMedia {
  /// One line of the manifest.
  package struct Row: Sendable {
    package let name: BytePath
    /// The last column, `product_verdict`.
    package let verdict: String
  }

  /// `HANDOFF_MEDIA`, else `../shared/media` beside the package; nil, and said so, if nothing is there.
  package static func folder(for test: String) -> BytePath? {
    let package = BytePath(#filePath).parent.parent.parent
    let places = [
      environmentValue("HANDOFF_MEDIA").map { BytePath($0) },
      package.parent.appending("shared/media"),
    ].compactMap(\.self)
    let found = places.first { access($0.appending("MANIFEST.tsv").nulTerminated, R_OK) == 0 }
    if found == nil { print("skipped, no collected media is here: \(test)") }
    return found
  }

  /// The manifest's lines without its heading.
  package static func rows(_ folder: BytePath) throws -> [Row] {
    let manifest = folder.appending("MANIFEST.tsv")
    let text = try FileDescriptor.open(manifest, O_RDONLY).readAll(limit: 1 << 24)
    return text.split(separator: UInt8(ascii: "\n")).dropFirst().map { line in
      let columns = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
      return Row(
        name: BytePath(columns[0]),
        verdict: String(decoding: columns[columns.count - 1], as: UTF8.self)
      )
    }
  }
}
