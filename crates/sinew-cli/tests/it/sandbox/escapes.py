"""Ways out of a box, each in a process of its own. Names those that led out, and why the others did not.

Called with the file of what stands outside, and the names of the ways to try.
"""
import ctypes, errno, json, os, signal, socket, struct, subprocess, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
W = json.load(open(sys.argv[1]))
SECRET, HOME, PID = W["secret"], W["home"], W["pid"]
# The program that started this one, and stands outside.
PARENT = os.getppid()


class Refused(Exception):
    pass


def call(number, *args):
    """A system call that must succeed."""
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def reached(number, *args):
    """A system call that got as far as the kernel: any answer but the filter's is a way out."""
    try:
        call(number, *args)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.ENOSYS):
            raise


def has_secret(data):
    if b"canary" not in (data if isinstance(data, bytes) else data.encode()):
        raise Refused("nothing was read")


def read(path):
    with open(path, "rb") as file:
        has_secret(file.read())


def pointer(text):
    return ctypes.c_char_p(text.encode())


def linked_file():
    os.symlink(SECRET, "link")
    read("link")


def linked_folder():
    os.symlink(os.path.dirname(SECRET), "folder-link")
    read("folder-link/" + os.path.basename(SECRET))


def hard_link():
    os.link(SECRET, "hard")
    read("hard")


def moved_in():
    os.rename(SECRET, "moved")
    read("moved")


def path_descriptor():
    descriptor = os.open(SECRET, os.O_PATH)
    read("/proc/self/fd/%d" % descriptor)


def by_handle():
    handle = struct.pack("Ii", 128, 0) + bytes(128)
    buffer = ctypes.create_string_buffer(handle, len(handle))
    mount = ctypes.c_int()
    call(303, ctypes.c_int(-100), pointer(SECRET), buffer, ctypes.byref(mount), ctypes.c_int(0))
    root = os.open("/", os.O_PATH)
    reached(304, ctypes.c_int(root), buffer, ctypes.c_int(0))


def written(path):
    with open(path, "ab") as file:
        file.write(b"x")


def cut_by_open():
    os.open(SECRET, os.O_RDONLY | os.O_TRUNC)


def moved_out():
    open("own", "w").close()
    os.rename("own", HOME + "/moved-out")


def run(*argv):
    if subprocess.run(argv, stdout=subprocess.DEVNULL, close_fds=False).returncode != 0:
        raise Refused("it did not run")


def memory_file():
    """Code that no file holds is in the box like any other."""
    descriptor = os.memfd_create("tool")
    with open("/bin/cat", "rb") as tool:
        os.write(descriptor, tool.read())
    run("/proc/self/fd/%d" % descriptor, SECRET)


def set_id():
    """A program that would run as its owner: no new privileges means that it does not."""
    if call(157, 39, 0, 0, 0, 0) == 1:
        raise Refused("no new privileges")


def capabilities():
    for line in open("/proc/self/status"):
        if line.startswith(("CapEff", "CapPrm")) and int(line.split()[1], 16):
            return
    raise Refused("no capabilities")


def debugger():
    call(101, 16, PID, 0, 0)


def other_memory():
    local, remote = ctypes.create_string_buffer(8), (ctypes.c_void_p * 2)(0x1000, 8)
    own = (ctypes.c_void_p * 2)(ctypes.addressof(local), 8)
    reached(310, PID, own, 1, remote, 1, 0)


def other_descriptor():
    handle = call(434, PID, 0)
    reached(438, ctypes.c_int(handle), 0, 0)


def typed_for_the_user():
    reader, writer = os.pipe()
    reached(16, reader, 0x5412, ctypes.c_char_p(b"x"))


def typed_with_high_bits():
    reader, writer = os.pipe()
    reached(16, reader, ctypes.c_ulong(0xFFFFFFFF00005412), ctypes.c_char_p(b"x"))


def tcp(port):
    with socket.create_connection(("127.0.0.1", port), 2) as link:
        link.sendall(b"canary")


def listening():
    with socket.socket() as link:
        link.bind(("127.0.0.1", 0))


def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.sendto(b"canary", ("127.0.0.1", W["udp"]))


def fast_open():
    with socket.socket() as link:
        link.sendto(b"canary", 0x20000000, ("127.0.0.1", W["tcp"]))


def family(number, kind=socket.SOCK_STREAM, protocol=0):
    reached(41, number, kind, protocol)


def local_socket(path):
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(path)


def pair():
    """Not a way out: the two ends of it stay inside. It shows that local sockets are told apart."""
    socket.socketpair()


def lookup():
    """The name service is another machine."""
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.sendto(b"\0" * 12, ("127.0.0.53", 53))


def variable():
    if any("canary" in value for value in os.environ.values()):
        return
    raise Refused("not there")


def home_variable():
    if os.path.realpath(os.environ["HOME"]) == os.path.realpath(HOME):
        return
    raise Refused("another home")


def two_steps():
    """The box holds for what the program starts, too."""
    run("/bin/sh", "-c", "exec /bin/cat '%s'" % SECRET)


def after_a_fork():
    child = os.fork()
    if child == 0:
        os.setsid()
        try:
            read(SECRET)
            os._exit(0)
        except Exception:
            os._exit(1)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        raise Refused("nothing was read")


def device(kind, number):
    os.mknod("device", kind | 0o600, number)


def clone(flags):
    child = call(56, ctypes.c_ulong(flags | signal.SIGCHLD), 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def clone3():
    reached(435, ctypes.create_string_buffer(88), 1)


def attribute():
    call(188, pointer(SECRET), pointer("user.x"), pointer("y"), 1, 0)


WAYS = {
    "read a key by its path": lambda: read(SECRET),
    "read a key by a path with ..": lambda: read(os.path.relpath(SECRET)),
    "read a key below /proc/self/root": lambda: read("/proc/self/root" + SECRET),
    "read a key below /proc/self/cwd": lambda: read("/proc/self/cwd/" + os.path.relpath(SECRET)),
    "list the home": lambda: os.listdir(HOME),
    "list a folder above": lambda: os.listdir(".."),
    "link to a key": linked_file,
    "link to the folder of a key": linked_folder,
    "give a key a second name": hard_link,
    "move a key in": moved_in,
    "open a key again by its descriptor": path_descriptor,
    "open a file by its handle": by_handle,
    "read with a program": two_steps,
    "read in a session of its own": after_a_fork,
    "read sinew's own files": lambda: read(HOME + "/.sinew/config.json5"),
    "read the hashes of passwords": lambda: has_secret(open("/etc/shadow", "rb").read() + b"canary"),
    "write a file elsewhere": lambda: written(HOME + "/new"),
    "add to a start-up file": lambda: written(HOME + "/.profile"),
    "cut a file off by its path": lambda: os.truncate(SECRET, 0),
    "cut a file off by opening it": cut_by_open,
    "remove a file elsewhere": lambda: os.unlink(SECRET),
    "make a folder elsewhere": lambda: os.mkdir(HOME + "/made"),
    "move a file out": moved_out,
    "link a start-up file elsewhere": lambda: os.symlink("/bin/true", HOME + "/.xinitrc"),
    "set an attribute elsewhere": attribute,
    "start a program elsewhere": lambda: run(W["tool"]),
    "start it with the loader": lambda: run("/lib64/ld-linux-x86-64.so.2", W["tool"]),
    "run code from memory": memory_file,
    "start a set-id program": set_id,
    "keep capabilities": capabilities,
    "make a device": lambda: device(0o020000, os.makedev(1, 3)),
    "make a disk": lambda: device(0o060000, os.makedev(8, 0)),
    "change the root": lambda: call(161, pointer(HOME)),
    "mount": lambda: reached(165, pointer(HOME), pointer("."), 0, 4096, 0),
    "mount by the newer calls": lambda: reached(430, pointer("tmpfs"), 0),
    "take a tree along": lambda: reached(428, ctypes.c_int(-100), pointer(HOME), 1),
    "enter another view": lambda: reached(308, ctypes.c_int(0), 0x20000),
    "make another view": lambda: call(272, 0x10000000),
    "start in another view": lambda: clone(0x10000000),
    "start by a call that hides its flags": clone3,
    "read another's variables": lambda: read("/proc/%d/environ" % PID),
    "read another's command": lambda: open("/proc/%d/cmdline" % PID).read(),
    "read another's memory": lambda: open("/proc/%d/mem" % PID, "rb"),
    "list another's descriptors": lambda: os.listdir("/proc/%d/fd" % PID),
    "read the parent's variables": lambda: open("/proc/%d/environ" % PARENT).read(),
    "debug another": debugger,
    "copy another's memory": other_memory,
    "take another's descriptor": other_descriptor,
    "signal another": lambda: os.kill(PID, signal.SIGCONT),
    "limit another": lambda: reached(302, PID, 4, 0, 0),
    "type for the user": typed_for_the_user,
    "type for the user with high bits": typed_with_high_bits,
    "use a descriptor that was left open": lambda: has_secret(os.read(7, 100)),
    "read a secret variable": variable,
    "know the home": home_variable,
    "ask the kernel's keys": lambda: reached(250, 0, ctypes.c_int(-3), 0),
    "queue calls past the filter": lambda: reached(425, 1, ctypes.create_string_buffer(120)),
    "load a kernel program": lambda: reached(321, 0, 0, 0),
    "watch the kernel": lambda: reached(298, 0, 0, ctypes.c_int(-1), ctypes.c_int(-1), 0),
    "answer page faults": lambda: reached(323, 0),
    "share memory with others": lambda: reached(29, 0x5157, 4096, 0o1600),
    "share a queue with others": lambda: reached(240, pointer("q"), os.O_CREAT, 0o600, 0),
    "use the numbers of x32": lambda: reached(0x40000000 | 39),
    "connect to another port": lambda: tcp(W["tcp"]),
    "listen": listening,
    "connect with the first message": fast_open,
    "use a local socket": lambda: local_socket(W["local"]),
    "use a local socket without a path": lambda: local_socket("\0" + W["abstract"]),
    "connect by several paths": lambda: family(2, socket.SOCK_STREAM, 262),
    "talk to the hypervisor": lambda: family(40),
    "see every packet": lambda: family(17, socket.SOCK_RAW, 3),
    "make packets": lambda: family(2, socket.SOCK_RAW, 255),
    "send a datagram": udp,
    "ask a name server": lookup,
    "talk to the kernel's network": lambda: family(16, socket.SOCK_RAW, 0),
    "make a pair of sockets": pair,
}


def attempt(way):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            WAYS[way]()
            said = "out"
        except BaseException as error:
            said = "%s: %s" % (type(error).__name__, error)
        os.write(writer, said.encode()[:500])
        os._exit(0)
    os.close(writer)
    said = b""
    while chunk := os.read(reader, 500):
        said += chunk
    os.close(reader)
    os.waitpid(child, 0)
    return said.decode() or "ended"


print(json.dumps({way: attempt(way) for way in sys.argv[2:] or WAYS}))
