/// The part that plugins in Python have in common, before what each of them does.
///
/// It has `work`, `send(message)`, `describe(call, name, capabilities)`, `messages()` until `shutdown`, a
/// `lock`, which `send` takes for a moment, and `numbers` for ids of its own.
enum PythonPlugin {
  static let wire = """
    #!/usr/bin/env python3
    import itertools, json, os, socket, threading

    work = os.environ["HANDOFF_WORK"]
    wire = socket.socket(fileno=int(os.environ["HANDOFF_FD"]))
    # Apart: writing to a text file drops what was read ahead from it.
    lines = wire.makefile("r", encoding="utf-8", newline="\\n")
    out = wire.makefile("w", encoding="utf-8", newline="\\n")
    lock = threading.Lock()
    numbers = itertools.count()

    def send(message):
        with lock:
            out.write(json.dumps(dict(message, jsonrpc="2.0")) + "\\n")
            out.flush()

    def describe(call, name, capabilities):
        send({"id": call, "result": {
            "name": name, "version": "1", "protocol_versions": [3],
            "constraints": {}, "capabilities": capabilities}})

    def messages():
        for line in lines:
            message = json.loads(line)
            yield message, message.get("method"), message.get("id"), message.get("params")
            if message.get("method") == "shutdown": break


    """
}
