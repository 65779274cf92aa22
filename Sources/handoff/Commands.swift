/// All commands, in the order of help.
enum Commands {
  static let all: [Command] = [
    .initialise, .check, .plan, .serve, .demo, .status, .why, .importFiles, .assets, .show, .send,
    .handoffs, .history, .audit, .cancel, .retry, .adopt, .allow, .resume, .result, .delete, .fsck,
    .collect, .rebuild, .doctor, .plugin,
  ]
}
