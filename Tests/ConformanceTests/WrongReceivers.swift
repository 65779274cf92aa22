import Conformance

/// The receivers that are wrong on purpose.
extension WrongReceiver {
  static let all =
    meddlers + leakers + refusers + introduction + lines + requests + results + memory + endings

  static let send = #"send(id=0, method="handoff.result", params=told)"#
  static let methods = #"METHODS = {"probe": known, "#
  static let capabilities = #""capabilities": ["probe", "reconcile", "status"]"#

  /// Says the same of everything that it is asked to look at again.
  private static func verify(_ standing: String) -> String {
    "\"verify\": lambda assets, **_: {\"assets\": [{\"local_identifier\": a[\"local_identifier\"], "
      + "\"standing\": \"\(standing)\"} for a in assets]}, "
  }

  private static let introduction = [
    WrongReceiver(
      "never answers discover",
      .starts,
      "Answer every call",
      ("if method in METHODS:", "if method == 'discover': continue\n        if method in METHODS:")
    ),
    WrongReceiver(
      "case 38: keeps its answers in a buffer",
      .starts,
      "write the line out at once",
      ("broker.sendall(json", "out.write(json"),
      ("USED = {", "out = broker.makefile('wb')\nUSED = {")
    ),
    WrongReceiver(
      "ends at its start",
      .starts,
      "Answer every call",
      ("USED = {", "raise SystemExit('no shelf today')\nUSED = {")
    ),
    WrongReceiver(
      "does not know discover",
      .discoverShape,
      "name, version",
      ("\"discover\":", "\"d\":")
    ),
    WrongReceiver("names a version twice", .versions, "each once", ("[1, 2, 3]", "[3, 3]")),
    WrongReceiver(
      "has a limit that nothing meets",
      .constraints,
      "some video can meet",
      ("{\"max_count\": 1}", "{\"max_count\": 0}")
    ),
    WrongReceiver("has no status", .status, "\"up\"", ("{\"status\": \"up\"}", "{}")),
    WrongReceiver(
      "says nothing of what it looked at",
      .statusChecks,
      "in a sentence",
      (
        "{\"status\": \"up\"}",
        "{\"status\": \"up\", \"checks\": [{\"name\": \"limits\", \"passed\": True, \"detail\": \"\"}]}"
      )
    ),
    WrongReceiver(
      "writes a file when it is asked how it is",
      .statusChecks,
      "Only look",
      (
        "lambda **_: {\"status\": \"up\"}",
        "lambda **_: open(os.path.join(os.environ['HANDOFF_WORK'], 'looked'), 'w').close() or "
          + "{\"status\": \"up\", \"checks\": []}"
      )
    ),
    WrongReceiver(
      "forgets what it has done",
      .verify,
      "intact (its bytes are right)",
      (capabilities, "\"capabilities\": [\"verify\"]"),
      (methods, methods + verify("damaged"))
    ),
    WrongReceiver(
      "answers verify for something else",
      .verify,
      "for each that `verify` names",
      (capabilities, "\"capabilities\": [\"verify\"]"),
      (methods, methods + "\"verify\": lambda **_: {\"assets\": []}, ")
    ),
    WrongReceiver(
      "finds intact what it never had",
      .verifyMissing,
      "Compare what is there",
      (capabilities, "\"capabilities\": [\"verify\"]"),
      (methods, methods + verify("intact"))
    ),
  ]

  private static let lines = [
    WrongReceiver(
      "ends on a message that it does not know",
      .unknownMessage,
      "Answer every call",
      ("elif method: send(", "elif method: raise SystemExit(3)\n        elif method: send(")
    ),
    WrongReceiver(
      "ends on a line that is not JSON",
      .badJSON,
      "-32700",
      (
        "    try:\n        message = dict(json.loads(line))",
        "    message = dict(json.loads(line))\n    try:"
      )
    ),
    WrongReceiver(
      "ends on deep nesting",
      .deepNesting,
      "deep nesting",
      (
        "        message = dict(json.loads(line))",
        "        if line.count(b'[') > 900: raise SystemExit(4)\n        message = dict(json.loads(line))"
      )
    ),
    WrongReceiver(
      "cuts a long line in pieces",
      .longLine,
      "1,048,576 bytes",
      (
        "for line in broker.makefile(\"rb\"):",
        "lines = broker.makefile('rb')\nfor line in iter(lambda: lines.readline(65536), b''):"
      )
    ),
  ]

  private static let requests = [
    WrongReceiver(
      "takes a request without an identifier",
      .malformedRequest,
      "Check the request",
      ("\"\" + video", "video")
    ),
    WrongReceiver(
      "takes every version",
      .foreignVersion,
      "version_incompatible",
      ("request[\"protocol_version\"] not in (1, 2, 3) or ", "")
    ),
    WrongReceiver(
      "does not look at must_understand",
      .mustUnderstand,
      "must_understand",
      (" or {*request.get(\"must_understand\", [])} - USED", "")
    ),
    WrongReceiver(
      "refuses members that it does not know",
      .unknownMembers,
      "Ignore members",
      (
        "{*request.get(\"must_understand\", [])} - USED",
        "{*request} - USED - {'title', 'sync_publish', 'attempt'}"
      )
    ),
    WrongReceiver(
      "does the handoff in preflight",
      .preflight,
      "Only answer `preflight`",
      (capabilities, "\"capabilities\": [\"preflight\"]"),
      (methods, methods + "\"preflight\": lambda **p: submit(**p) or {\"accepted\": True}, ")
    ),
    WrongReceiver(
      "says that it reads version 1 and does not",
      .eachVersion,
      "take it out of `protocol_versions`",
      ("not in (1, 2, 3)", "not in (2, 3)")
    ),
  ]

  private static let results = [
    WrongReceiver(
      "says a success without its token",
      .result,
      "members and kinds",
      (send, "told.pop('state'); " + send)
    ),
    WrongReceiver(
      "changes the token",
      .state,
      "byte by byte",
      (send, "told['state'] += 'x'; " + send)
    ),
    WrongReceiver(
      "makes up a result",
      .result,
      "members and kinds",
      ("\"result\": \"success\"}", "\"result\": \"done\"}")
    ),
    WrongReceiver(
      "never sends a result",
      .result,
      "flush",
      (send, "pass")
    ),
    WrongReceiver("sends two results", .resultOnce, "once", (send, send + "; " + send)),
    WrongReceiver(
      "answers in a version of its own",
      .resultVersion,
      "Copy `protocol_version`",
      ("{\"protocol_version\": request[\"protocol_version\"]", "{\"protocol_version\": 2")
    ),
    WrongReceiver(
      "claims a success without the asset",
      .assetDeleted,
      "nothing was done",
      (
        "told.update(result=\"failure\", state=request[\"state\"], error={**data, \"effect\": \"none\"})",
        "told.update(state=request[\"state\"])"
      )
    ),
    WrongReceiver(
      "does not know the effect of a refused asset",
      .accessLimited,
      "effect none",
      ("error={**data, \"effect\": \"none\"}", "error={**data, \"effect\": \"unknown\"}")
    ),
    WrongReceiver(
      "writes the token to its log",
      .secrecy,
      "handoff_id",
      (
        "    waiting[handoff_id], what",
        "    print(request[\"state\"], flush=True)\n    waiting[handoff_id], what"
      )
    ),
    WrongReceiver(
      "writes to what it is granted",
      .grantedFile,
      "Only read",
      (
        "        os.replace(copy + b\".part\", copy)",
        "        os.chmod(path, 0o644); open(path, 'ab').write(b'x')\n"
          + "        os.replace(copy + b\".part\", copy)"
      )
    ),
    WrongReceiver(
      "has cancel among its capabilities and goes on",
      .cancel,
      "take `cancel` out",
      (capabilities, "\"capabilities\": [\"cancel\"]"),
      (methods, methods + "\"cancel\": known, ")
    ),
  ]

  private static let memory = [
    WrongReceiver(
      "has probe among its capabilities and does not know it",
      .probeUnknown,
      "only for messages that are not known",
      (methods, "METHODS = {")
    ),
    WrongReceiver(
      "claims a success for a handoff that it never had",
      .killedAtWork,
      "Write down durably",
      (
        "    result = journal(handoff_id, state or request[\"state\"])",
        "    state = state or request[\"state\"]\n"
          + "    result = {\"protocol_version\": 3, \"state\": state, \"result\": \"success\"}"
      )
    ),
    WrongReceiver(
      "forgets what it has done",
      .killedAfterResult,
      "Write down durably",
      (" if os.path.exists(path) else None", " if result else None")
    ),
    WrongReceiver(
      "does a request again after a restart",
      .replay,
      "answer `reconcile` and `probe` from there",
      ("    if done: return", "    if False: return")
    ),
    WrongReceiver(
      "leaves handoffs out of reconcile",
      .killedAtWork,
      "one element for each handoff",
      ("[known(**one) for one in handoffs]", "[]")
    ),
  ]

  private static let endings = [
    WrongReceiver(
      "does not end on shutdown",
      .shutdown,
      "End the process",
      ("broker.shutdown(socket.SHUT_RD) or {}", "{}")
    ),
    WrongReceiver(
      "outlives its socket",
      .hangUp,
      "End the process",
      (
        "    while later: send(**later.pop(0))\n",
        "    while later: send(**later.pop(0))\nwhile True: pass\n"
      )
    ),
    WrongReceiver(
      "ignores SIGTERM",
      .terminate,
      "SIGTERM",
      ("USED = {", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nUSED = {")
    ),
    WrongReceiver(
      "leaves a process behind",
      .leftovers,
      "setsid",
      (
        "USED = {",
        "import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True)\nUSED = {"
      )
    ),
  ]
}
