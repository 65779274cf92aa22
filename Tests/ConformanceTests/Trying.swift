import Conformance
import Digests
import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Runs the kit against a program.
func report(
  _ executable: BytePath,
  settings: JSONValue? = nil,
  only: Set<CheckName> = [],
  limits: Conformance.Limits = Conformance.Limits(),
  variables: [String: String] = [:]
) async throws -> ConformanceReport {
  let kit = Conformance(
    executable: executable,
    settings: settings,
    variables: variables,
    searchPath: environmentValue("PATH") ?? CommandSearch.defaultPath,
    // In memory where that is: what is tried is not the disk.
    temporary: access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
    mark: try RandomBytes.make(count: 8).map { String($0, radix: 16) }.joined(),
    only: only,
    limits: limits
  )
  return try await kit.run()
}

/// What a test shows when a check that should pass does not.
func failureText(_ report: ConformanceReport) -> String {
  report.entries.flatMap(\.lines).filter { !$0.hasPrefix("ok") }.joined(separator: "\n")
}
