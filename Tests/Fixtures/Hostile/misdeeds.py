"""A receiver that misbehaves in one way: `misdeeds.py exec|plugin MISDEED`. Standard library only."""

import json, os, signal, socket, subprocess, sys, time

transport, misdeed = sys.argv[1], sys.argv[2]
everything = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]


def result(state, **more):
    return dict({"protocol_version": 3, "state": state, "result": "success"}, **more)


def hang():
    for number in everything:
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(600)


def flood(stream, size):
    chunk = b"noise " * 10_000 + b"\n"
    while size > 0:
        size -= os.write(stream, chunk)


def grandchildren():
    """Out of the group, holding both outputs: one plain, one by a double fork, one that ignores TERM."""
    for line in ["sleep 20", "setsid -f sleep 20", "setsid -f sh -c 'trap \"\" TERM; sleep 20'"]:
        subprocess.Popen(["/bin/sh", "-c", line], start_new_session=True)


def nested(depth):
    return "[" * depth + "]" * depth


# What is wrong with a failure, by name: a text with the token in it.
def bad_line(state):
    head = (
        '{"protocol_version":3,"state":"%s","result":"failure","error":{"code":"receiver_failed",'
        '"message":"not done","effect":"none"},"output":' % state
    )
    return {
        "long_line": lambda: (head + '{"x":"' + "x" * (16 << 20) + '"}}').encode(),
        "deep": lambda: (head + '{"x":' + nested(100_000) + "}}").encode(),
        "huge_exponent": lambda: (head.replace(":3,", ":1147e0286,") + "{}}").encode(),
        "infinite": lambda: (head + '{"x":1e400}}').encode(),
        "wide": lambda: (head.replace(":3,", ":99999999999999999999,") + "{}}").encode(),
        "not_a_number": lambda: (head + '{"x":NaN}}').encode(),
        "twice_state": lambda: (head + '{},"state":"%s"}' % state).encode(),
        "twice_result": lambda: (head + '{},"result":"success"}').encode(),
        "mark": lambda: b"\xef\xbb\xbf" + (head + "{}}").encode(),
        "surrogate": lambda: (head + '{"x":"\\ud800"}}').encode(),
        "zero": lambda: (head + '{"x":"\0"}}').encode(),
        "deeper": lambda: (head + '{"x":' + nested(70) + "}}").encode(),
        "latin": lambda: (head + '{"x":"\u00e9"}}').encode("latin-1"),
        "half": lambda: head[:60].encode(),
        "pretty": lambda: json.dumps(json.loads(head + "{}}"), indent=1).encode(),
        "wide_text": lambda: (head + "{}}").encode("utf-16"),
        "invalid": lambda: (head + '{"x":"').encode() + b'\xff\xfe\x80"}}',
    }.get(misdeed)


def run_exec():
    if misdeed == "deaf":
        hang()
    state = json.load(sys.stdin)["state"]
    answer = (json.dumps(result(state)) + "\n").encode()
    line = bad_line(state)
    if line:
        try:
            os.write(1, line() + b"\n") if misdeed != "long_line" else flood_bytes(line() + b"\n")
        except BrokenPipeError:
            pass
        # The exit code says that all is well: only the broken line says that it is not.
        sys.exit(0)
    if misdeed == "flood":
        flood(2, 5_000_000)
        os.write(1, b" " * 100_000 + b"\n")
        os.write(1, answer)
    elif misdeed == "endless":
        flood(1, 1 << 40)
    elif misdeed == "hang":
        hang()
    elif misdeed == "dies":
        os.write(1, answer[:40])
        os.kill(os.getpid(), signal.SIGSEGV)
    elif misdeed == "grandchildren":
        grandchildren()
        os.write(1, answer)
    elif misdeed == "twice":
        os.write(1, json.dumps(result(state, result="cancelled")).encode() + b"\n" + answer)
    elif misdeed == "foreign":
        os.write(1, json.dumps(result(foreign())).encode() + b"\n")


def flood_bytes(data):
    while data:
        data = data[os.write(1, data[:65_536]):]


def foreign():
    """The token of another destination, as that one has written it down."""
    try:
        with open(sys.argv[3]) as file:
            return file.read()
    except (IndexError, OSError):
        return "1." + "A" * 43


def run_plugin():
    wire = socket.socket(fileno=int(os.environ["HANDOFF_FD"]))
    incoming = wire.makefile("r", encoding="utf-8", newline="\n")

    def send(message):
        wire.sendall((json.dumps(dict(message, jsonrpc="2.0")) + "\n").encode())

    def report(document):
        send({"id": "r", "method": "handoff.result", "params": document})

    def submit(call, request):
        state = request["state"]
        if misdeed in ("hang", "deaf"):
            hang()
        if misdeed == "silent":
            return
        send({"id": call, "result": {"accepted": True}})
        line = bad_line(state)
        if line:
            head = b'{"jsonrpc":"2.0","id":"r","method":"handoff.result","params":'
            wire.sendall(head + line() + b"}\n")
        elif misdeed == "flood":
            flood(2, 5_000_000)
            flood(1, 5_000_000)
            report(result(state))
        elif misdeed == "endless":
            while True:
                wire.sendall(b"x" * 65_536)
        elif misdeed == "dies":
            wire.sendall(b'{"jsonrpc":"2.0","id":"r","method":"handoff.re')
            os.kill(os.getpid(), signal.SIGSEGV)
        elif misdeed == "grandchildren":
            grandchildren()
            report(result(state))
        elif misdeed == "twice":
            report(result(state))
            report(result(state, result="cancelled"))
        elif misdeed == "foreign":
            report(result(foreign()))
        elif misdeed == "calls":
            # Many calls, and none of their answers is read.
            for number in range(100_000):
                send({"id": number, "method": "handoff.progress", "params": {"state": state}})

    for text in incoming:
        message = json.loads(text)
        method, call = message.get("method"), message.get("id")
        if method == "discover":
            send({"id": call, "result": {
                "name": "misdeeds", "version": "1", "protocol_versions": [3], "constraints": {},
                "capabilities": []}})
        elif method == "submit":
            submit(call, message["params"]["request"])
        elif method is not None:
            send({"id": call, "result": {}})
        if method == "shutdown":
            return


run_exec() if transport == "exec" else run_plugin()
