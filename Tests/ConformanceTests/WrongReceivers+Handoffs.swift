import Conformance

/// Receivers that look right because they never do a handoff, say too much, or touch what is not theirs.
extension WrongReceiver {
  static let refusers = [
    WrongReceiver(
      "asks for an asset of another name",
      .resolve,
      "byte by byte",
      ("\"local_identifier\": \"\" + video", "\"local_identifier\": \"X\" + video")
    ),
    WrongReceiver(
      "asks for a part of the name",
      .resolve,
      "byte by byte",
      ("\"local_identifier\": \"\" + video", "\"local_identifier\": video.split('/')[0]")
    ),
    WrongReceiver(
      "refuses and sends a success",
      .resultOnce,
      "not both",
      (
        "submit(**params) or {\"accepted\": True}",
        "submit(**params) or {\"accepted\": False, \"error\": {\"code\": \"quota\", \"message\": \"x\", "
          + "\"effect\": \"none\"}}"
      ),
      (
        "    waiting[handoff_id], what = request,",
        "    later.append({\"id\": 0, \"method\": \"handoff.result\", \"params\": {\"protocol_version\": "
          + "request[\"protocol_version\"], \"state\": request[\"state\"], \"result\": \"success\"}})\n"
          + "    waiting[handoff_id], what = request,"
      )
    ),
    WrongReceiver(
      "refuses everything",
      .submit,
      "--video",
      (
        "submit(**params) or {\"accepted\": True}",
        "{\"accepted\": False, \"error\": {\"code\": \"quota\", \"message\": \"x\", \"effect\": \"none\"}}"
      )
    ),
    WrongReceiver(
      "fails everything",
      .result,
      "send a success",
      (
        "        told[\"output\"] = {\"path\": copy.decode(errors=\"replace\")}",
        "        told.update(result=\"failure\", error={\"code\": \"network\", \"message\": \"x\", "
          + "\"effect\": \"none\"})"
      )
    ),
    WrongReceiver(
      "cancels everything",
      .result,
      "send a success",
      ("\"result\": \"success\"}", "\"result\": \"cancelled\"}")
    ),
    WrongReceiver(
      "says cancelled where the asset was deleted",
      .assetDeleted,
      "end the handoff as a failure",
      (
        "told.update(result=\"failure\", state=request[\"state\"], error={**data, \"effect\": \"none\"})",
        "told.update(result=\"cancelled\", state=request[\"state\"])"
      )
    ),
    WrongReceiver(
      "hands off the first of several",
      .severalAssets,
      "max_count",
      ("{\"max_count\": 1}", "{}"),
      ("[video] = request.get", "video, *_ = request.get")
    ),
    WrongReceiver(
      "changes the case of the token",
      .state,
      "byte by byte",
      ("\"state\": state} if os", "\"state\": state.lower()} if os")
    ),
    WrongReceiver(
      "cuts the token at a hyphen",
      .state,
      "byte by byte",
      ("\"state\": state} if os", "\"state\": state.replace('-', '_')} if os")
    ),
  ]

  static let leakers = [
    WrongReceiver(
      "logs the token where a handoff fails",
      .secrecy,
      "handoff_id",
      (
        "        data = (error or {})",
        "        print(request[\"state\"], flush=True)\n        data = (error or {})"
      )
    ).seen(in: .assetDeleted),
    WrongReceiver(
      "says the token in a log message",
      .secrecy,
      "handoff_id",
      (
        send,
        "send(id=0, method='log', params={'level': 'info', 'message': 't ' + request['state']}); "
          + send
      )
    ),
    WrongReceiver(
      "says the token in an error",
      .secrecy,
      "handoff_id",
      ("\"this receiver reads versions 1 to 3\"", "request[\"state\"]")
    ).seen(in: .foreignVersion),
    WrongReceiver(
      "says the token in its output",
      .secrecy,
      "handoff_id",
      ("told[\"output\"] = {", "told[\"output\"] = {\"about\": request[\"state\"], ")
    ),
    WrongReceiver(
      "writes the token to a file",
      .secrecy,
      "a digest of the token",
      (send, "open(os.path.join(work, 'tokens'), 'a').write(request['state']); " + send)
    ),
  ]

  static let meddlers = [
    WrongReceiver(
      "changes the mode of what it is granted",
      .grantedFile,
      "Only read",
      (send, "os.chmod(path, 0o777) if result else 0; " + send)
    ),
    WrongReceiver(
      "links to what it is granted",
      .grantedFile,
      "no link",
      ("shutil.copyfile(path, copy", "os.link(path, copy")
    ),
    WrongReceiver(
      "leaves a symbolic link to what it is granted",
      .grantedFile,
      "no link",
      ("shutil.copyfile(path, copy", "os.symlink(path, copy")
    ),
    WrongReceiver(
      "prints to the socket",
      .wellFormed,
      "one message a line",
      (send, "broker.sendall(b'copied one\\n'); " + send)
    ),
    WrongReceiver(
      "answers every call twice",
      .wellFormed,
      "once",
      (
        "if method in METHODS: send(",
        """
        if method == 'discover': send(id=number, result=METHODS[method](**message.get("params", {})))
                if method in METHODS: send(
        """
      )
    ).seen(in: .status),
    WrongReceiver(
      "sends a second result a little later",
      .resultOnce,
      "once",
      (
        send,
        send + "; __import__('threading').Timer(0.4, lambda: " + send + ").start()"
      )
    ),
    WrongReceiver(
      "sends a result that is too large",
      .result,
      "16384 bytes",
      ("told[\"output\"] = {", "told[\"output\"] = {\"all\": 'x' * 20000, ")
    ),
    WrongReceiver(
      "starts once only",
      .startsAgain,
      "Answer every call",
      (
        "USED = {",
        "if os.path.exists(os.path.join(work, 'begun')): raise SystemExit('once is enough')\n"
          + "open(os.path.join(work, 'begun'), 'w')\nUSED = {"
      )
    ).seen(in: .replay),
    WrongReceiver(
      "misspells a capability",
      .discoverShape,
      "preflight",
      (capabilities, "\"capabilities\": [\"preflght\"]")
    ),
  ]
}
