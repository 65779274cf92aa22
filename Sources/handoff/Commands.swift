/// All commands, in the order of help.
enum Commands {
  static let all: [Command] = [
    .initialise, .check, .plan, .serve, .reload, .demo, .status, .why, .importFiles, .assets, .show,
    .send, .handoffs, .history, .audit, .cancel, .retry, .adopt, .approve, .allow, .pause, .resume,
    .result, .delete, .destinations, .fsck, .collect, .rebuild, .backup, .restore, .doctor, .plugin,
  ]
}
