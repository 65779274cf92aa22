"""What a receiver may not do, tried in every way; each try is told by its error, or `succeeded`.

Run as `attack.py exec|plugin NAME=VALUE...`; the values are what to attack. Standard library only.
"""

import ctypes, errno, fcntl, json, mmap, os, resource, signal, socket, struct, sys

targets = dict(word.split("=", 1) for word in sys.argv[2:])
work = os.environ["HANDOFF_WORK"]
libc = ctypes.CDLL(None, use_errno=True)


def tried(attempt, *arguments):
    try:
        attempt(*arguments)
        return "succeeded"
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))
    except ValueError as error:
        return str(error)


def checked(value):
    if value == -1:
        raise OSError(ctypes.get_errno(), "libc")


def opened(path, flags):
    os.close(os.open(path, flags, 0o666))


def read(path):
    with open(path, "rb") as file:
        file.read(1)


def listed(path):
    if not os.listdir(path):
        raise OSError(errno.ENOENT, "it is empty")


def with_asset(asset, attempt):
    file = os.open(asset, os.O_RDONLY)
    try:
        attempt(file)
    finally:
        os.close(file)


def written_by_map(file):
    mmap.mmap(file, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)[0] = 0


def cloned_onto(file):
    note = os.open(work + "/note", os.O_RDONLY)
    fcntl.ioctl(file, 0x40049409, note)


def grants_of(asset):
    return os.path.dirname(asset)


def remounted_in_user_namespace(asset):
    """As the root of an own user namespace, whose mounts are locked all the same."""
    child = os.fork()
    if child == 0:
        newuser, newns, remount, bind = 0x10000000, 0x00020000, 32, 4096
        if libc.unshare(newuser | newns) == -1:
            os._exit(ctypes.get_errno())
        folder = grants_of(asset).encode()
        if libc.mount(None, folder, None, remount | bind, None) == -1:
            os._exit(ctypes.get_errno())
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        raise OSError(code, "in the user namespace")


def connected(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as end:
        end.settimeout(2)
        end.connect(address)


def sent(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.sendto(b"x", address)


def bound(name):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.bind(name)


def traced(pid):
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    checked(libc.ptrace(16, pid, 0, 0))


def borrowed(pid):
    """pidfd_open(2) and pidfd_getfd(2)."""
    process = libc.syscall(434, pid, 0)
    checked(process)
    checked(libc.syscall(438, process, 1, 0))


def assets(asset):
    grants = grants_of(asset)
    return {
        "asset_open_to_write": tried(opened, asset, os.O_WRONLY),
        "asset_open_both": tried(opened, asset, os.O_RDWR),
        "asset_open_truncated": tried(opened, asset, os.O_WRONLY | os.O_TRUNC),
        "asset_append": tried(opened, asset, os.O_WRONLY | os.O_APPEND),
        "asset_truncate": tried(os.truncate, asset, 0),
        "asset_chmod": tried(os.chmod, asset, 0o666),
        "asset_chown": tried(os.chown, asset, os.getuid(), os.getgid()),
        "asset_utime": tried(os.utime, asset),
        "asset_setxattr": tried(os.setxattr, asset, "user.handoff", b"x"),
        "asset_link": tried(os.link, asset, work + "/linked"),
        "asset_link_beside": tried(os.link, asset, grants + "/linked"),
        "asset_rename": tried(os.rename, asset, grants + "/renamed"),
        "asset_replace": tried(os.rename, work + "/note", asset),
        "asset_unlink": tried(os.unlink, asset),
        "asset_fchmod": tried(with_asset, asset, lambda file: os.fchmod(file, 0o666)),
        "asset_ftruncate": tried(with_asset, asset, lambda file: os.ftruncate(file, 0)),
        "asset_by_proc": tried(
            with_asset, asset, lambda file: opened(f"/proc/self/fd/{file}", os.O_WRONLY)
        ),
        "asset_link_by_proc": tried(
            with_asset, asset,
            lambda file: os.link(f"/proc/self/fd/{file}", work + "/linked", follow_symlinks=True),
        ),
        "asset_fallocate": tried(
            with_asset, asset, lambda file: os.posix_fallocate(file, 0, 1 << 20)
        ),
        "asset_mmap": tried(with_asset, asset, written_by_map),
        "asset_clone": tried(with_asset, asset, cloned_onto),
        "asset_remount": tried(
            lambda: checked(libc.mount(None, grants.encode(), None, 32 | 4096, None))
        ),
        "asset_umount": tried(lambda: checked(libc.umount2(grants.encode(), 2))),
        "asset_remount_in_namespace": tried(remounted_in_user_namespace, asset),
        "grants_add": tried(opened, grants + "/more", os.O_WRONLY | os.O_CREAT),
        "grants_chmod": tried(os.chmod, grants, 0o777),
    }


def secrets():
    names = ["ledger", "key", "other_asset", "home", "configuration", "export"]
    report = {"read_" + name: tried(read, targets[name]) for name in names if name in targets}
    report["list_state"] = tried(
        lambda: os.stat(os.path.join(os.path.dirname(targets["ledger"]), "ledger.db"))
    )
    report["list_library"] = tried(listed, targets["objects"])
    report["read_passwords"] = tried(read, "/etc/shadow")
    report["read_memory"] = tried(read, "/dev/mem")
    return report


def network():
    port, library = int(targets["port"]), "\0handoff-library-" + targets["library"]
    return {
        "tcp": tried(connected, socket.AF_INET, ("127.0.0.1", port)),
        "udp": tried(sent, ("192.0.2.1", 9)),
        "abstract": tried(connected, socket.AF_UNIX, "\0" + targets["abstract"]),
        "broker_socket": tried(connected, socket.AF_UNIX, targets["socket"]),
        "library_connect": tried(connected, socket.AF_UNIX, library),
        "library_name": tried(bound, library),
    }


def machine():
    # The broker's number, which is known only once it runs.
    with open(work + "/pid") as file:
        pid = int(file.read())
    return {
        "write_root": tried(opened, "/handoff-test", os.O_WRONLY | os.O_CREAT),
        "write_system": tried(opened, "/usr/handoff-test", os.O_WRONLY | os.O_CREAT),
        "write_devices": tried(opened, "/dev/handoff-test", os.O_WRONLY | os.O_CREAT),
        "write_etc": tried(opened, "/etc/hosts", os.O_WRONLY),
        "write_kernel": tried(opened, "/proc/sys/kernel/core_pattern", os.O_WRONLY),
        "make_device": tried(os.mknod, work + "/disk", 0o060600, os.makedev(8, 1)),
        "mount": tried(lambda: checked(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))),
        "chroot": tried(os.chroot, "/tmp"),
        "become_another": tried(os.setuid, os.getuid() + 1),
        "raise_limit": tried(resource.setrlimit, resource.RLIMIT_NOFILE, (1 << 19, 1 << 19)),
        "signal_broker": tried(os.kill, pid, 0),
        "signal_group": tried(os.killpg, pid, 0),
        "end_broker": tried(os.kill, pid, signal.SIGTERM),
        "see_broker": tried(read, f"/proc/{pid}/cmdline"),
        "trace_broker": tried(traced, pid),
        "borrow_descriptor": tried(borrowed, pid),
    }


def run(asset):
    report = {
        "read_asset": tried(read, asset),
        "write_work": tried(opened, work + "/note", os.O_WRONLY | os.O_CREAT),
        "write_temporary": tried(opened, "/tmp/note", os.O_WRONLY | os.O_CREAT),
    }
    for part in (assets(asset), secrets(), network(), machine()):
        report.update(part)
    # To everybody whom it can reach.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tried(os.kill, -1, signal.SIGTERM)
    with open("/proc/self/status") as status:
        facts = {name: text.strip() for name, text in (line.split(":", 1) for line in status)}
    space = os.statvfs("/tmp")
    report["fact_privileges"] = facts["NoNewPrivs"] + " " + facts["CapEff"].lstrip("0")
    report["fact_umask"] = facts["Umask"]
    report["fact_limits"] = "%d %d" % (
        resource.getrlimit(resource.RLIMIT_CORE)[1], resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    )
    report["fact_temporary"] = str(space.f_blocks * space.f_frsize)
    return report


def result(state, asset):
    return {"protocol_version": 3, "state": state, "result": "success", "output": run(asset)}


def serve():
    wire = socket.socket(fileno=int(os.environ["HANDOFF_FD"]))
    # Apart: writing to a text file drops what was read ahead from it.
    lines = wire.makefile("r", encoding="utf-8", newline="\n")
    out = wire.makefile("w", encoding="utf-8", newline="\n")
    state = None

    def send(message):
        out.write(json.dumps(dict(message, jsonrpc="2.0")) + "\n")
        out.flush()

    for line in lines:
        message = json.loads(line)
        method, call = message.get("method"), message.get("id")
        if method == "discover":
            send({"id": call, "result": {
                "name": "attack", "version": "1", "protocol_versions": [3], "constraints": {},
                "capabilities": []}})
        elif method == "submit":
            request = message["params"]["request"]
            state = request["state"]
            send({"id": call, "result": {"accepted": True}})
            send({"id": "a", "method": "asset.resolve", "params": {
                "state": state, "local_identifier": request["local_identifiers"][0]}})
        elif method is None and call == "a":
            asset = message["result"]["path"]
            send({"id": "r", "method": "handoff.result", "params": result(state, asset)})
        elif method is not None:
            send({"id": call, "result": {}})
        if method == "shutdown":
            return


if sys.argv[1] == "exec":
    print(json.dumps(result(json.load(sys.stdin)["state"], os.environ["HANDOFF_ASSET_1"])))
else:
    serve()
