import CAVFormat
import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

// handoff-probe FILE…: prints one verdict a line. Without arguments: the worker of a broker.
av_log_set_level(AV_LOG_QUIET)
var status: CInt = 0
if CommandLine.arguments.count < 2 {
  do {
    try Worker.run()
  } catch {
    print("handoff-probe: \(error)")
    status = 1
  }
}
for argument in CommandLine.arguments.dropFirst() {
  do {
    let file = try FileDescriptor.open(BytePath(argument), O_RDONLY | O_NONBLOCK)
    print(String(decoding: try WireCoder.encode(Inspection.verdict(file)), as: UTF8.self))
  } catch {
    print("\(argument): \(error)")
    status = 1
  }
}
exit(status)
