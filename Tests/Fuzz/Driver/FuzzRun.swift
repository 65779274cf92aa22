import FuzzTargets
import Glibc

/// libFuzzer's run over the target that HANDOFF_FUZZ_TARGET names.
///
/// It is named there and by no argument, because libFuzzer starts itself again with its own arguments.
enum FuzzRun {
  static let target: FuzzTarget = {
    if let name = getenv("HANDOFF_FUZZ_TARGET"),
      let target = FuzzTarget.named(String(cString: name))
    {
      return target
    }
    say("HANDOFF_FUZZ_TARGET must be one of: \(FuzzTarget.all.map(\.name).joined(separator: " "))")
    exit(2)
  }()

  static func say(_ sentence: String) {
    let line = Array("\(sentence)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
  }
}

/// What libFuzzer, which brings the main function, calls for each input; see
/// llvm.org/docs/LibFuzzer.html.
///
/// It ends the process where a property does not hold: that is how libFuzzer keeps the input.
@c(LLVMFuzzerTestOneInput)
public func fuzzerTestOneInput(_ start: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  do {
    try FuzzRun.target.check(Array(UnsafeBufferPointer(start: start, count: size)))
  } catch {
    FuzzRun.say("\(FuzzRun.target.name): \(error)")
    abort()
  }
  return 0
}
