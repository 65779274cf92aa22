extension ObedientPlugin {
  static let program = """
    import json, os, socket, threading, time

    work = os.environ["HANDOFF_WORK"]
    wire = socket.socket(fileno=int(os.environ["HANDOFF_FD"]))
    lock = threading.Lock()
    sent = {}

    def place(name): return os.path.join(work, name)

    tokens, answers = (open(place(name), "a", buffering=1) for name in ("tokens", "answers"))

    def line(message): return (json.dumps(dict(message, jsonrpc="2.0")) + "\\n").encode()

    def send(message):
        with lock: wire.sendall(line(message))

    def report(call, document):
        sent[call] = time.monotonic()
        send({"id": call, "method": "handoff.result", "params": document})

    def document(token, word):
        result = {"protocol_version": 3, "state": token, "result": word}
        if word == "failure":
            result["error"] = {"code": "receiver_failed", "message": "no", "effect": "applied"}
        return result

    def race(order):
        '''Each of some processes sends a result for each token: the odd ones a failure.'''
        go, gone = os.pipe()
        children = []
        for number in range(order["processes"]):
            child = os.fork()
            if child == 0:
                os.close(gone)
                os.read(go, 1)
                word = "failure" if number % 2 else "success"
                for index, token in enumerate(order["tokens"]):
                    call = "%s%d:%s" % (order["id"], index, word)
                    wire.sendall(line({"id": call, "method": "handoff.result",
                                       "params": document(token, word)}))
                os._exit(0)
            children.append(child)
        os.close(go); os.close(gone)
        for child in children: os.waitpid(child, 0)

    def flood(order):
        for number in range(order["count"]):
            token = "%d.%043d" % (number, number)
            send({"id": order["id"] + str(number), "method": "handoff.result",
                  "params": document(token, "success")})

    def act(order):
        what = order["do"]
        if what == "result": report(order["id"], order["document"])
        elif what == "race": race(order)
        elif what == "flood": flood(order)
        elif what == "long":
            try: wire.sendall(b"x" * order["count"])
            except OSError: pass

    def obey():
        if not os.path.exists(place("orders")): os.mkfifo(place("orders"))
        # For both, so that it has no end.
        with os.fdopen(os.open(place("orders"), os.O_RDWR)) as orders:
            for order in orders: act(json.loads(order))

    def given(handoff): tokens.write(handoff["handoff_id"] + " " + handoff["request"]["state"] + "\\n")

    threading.Thread(target=obey, daemon=True).start()
    for text in wire.makefile("r", encoding="utf-8", newline="\\n"):
        message = json.loads(text)
        method, call, params = message.get("method"), message.get("id"), message.get("params")
        if method is None:
            error = message.get("error") or {}
            verdict = (error.get("data") or {}).get("code") or str(error.get("code", "ok"))
            took = time.monotonic() - sent.get(call, 0)
            answers.write("%s %s %f\\n" % (call, verdict, took))
        elif method == "discover":
            send({"id": call, "result": {
                "name": "obedient", "version": "1", "protocol_versions": [3], "constraints": {},
                "capabilities": ["reconcile", "probe"]}})
        elif method == "submit":
            given(params)
            send({"id": call, "result": {"accepted": True}})
        elif method == "reconcile":
            for handoff in params["handoffs"]: given(handoff)
            send({"id": call, "result": {"handoffs": [
                {"handoff_id": h["handoff_id"], "standing": "working"} for h in params["handoffs"]]}})
        elif method == "probe":
            send({"id": call, "result": {
                "handoff_id": params["handoff_id"], "standing": "working"}})
        else: send({"id": call, "result": {}})
        if method == "shutdown": break
    """
}
