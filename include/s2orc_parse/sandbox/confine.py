"""Confine the calling process: Landlock for files, seccomp for system calls, resource limits, a separate user if root.

This module uses only the standard library and imports nothing of its package. `sandbox.start` runs it in a bare
interpreter with LAUNCH and the arguments <folder of this module> <seconds> <policy: marshal, in hexadecimal> <command
…>. The interpreter confines itself and then executes the command. Because this happens for every PDF and every run of
pandoc, the module does not import anything that loads `re`. No step needs a privilege. Sources: landlock(7),
seccomp(2), capabilities(7), <linux/landlock.h>, <linux/filter.h> and the syscall tables of Linux.
"""

from __future__ import annotations

import ctypes
import errno
import marshal
import os
import resource
import struct
import sys
from _signal import SIG_DFL, SIGPIPE, SIGXFSZ, setitimer, signal  # type: ignore[import-not-found]  # signal itself loads enum

NOT_CONFINED = 121
"""exit status if the command was not started: it was not found or could not be confined"""
SYSTEM = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/nix/store", "/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo",
    "/usr/share/locale", "/sys/devices/system/cpu", "/proc/meminfo", "/proc/cpuinfo", "/dev/urandom", "/dev/random", "/dev/zero",
)  # fmt: skip
"""Paths that every program may read: libraries and files of the C library.

No `/etc`, no `/proc` of a process, no home.
"""
LOADERS = (("/lib64", "ld-linux-"), ("/lib", "ld-linux"), ("/lib", "ld-musl-"))
"""folder and name prefix of the dynamic loaders with which the kernel starts programs"""
LAUNCH = "import sys; sys.path.insert(0, sys.argv.pop(1)); import confine; confine.main()"
"""code that imports this module: an imported module is compiled once, a script at each start"""

_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446  # the same on every architecture
_EXECUTE, _WRITE, _READ, _READ_DIR, _TRUNCATE = (1 << bit for bit in (0, 1, 2, 3, 14))
_MAKE_AND_REMOVE = sum(1 << bit for bit in (4, 5, 7, 8))  # files and folders; no links, devices, pipes, sockets
_FILE_RIGHTS = _EXECUTE | _WRITE | _READ | _TRUNCATE
_RIGHTS_OF_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}  # number of access rights by Landlock version; later versions have 16

_PR_SET_PDEATHSIG, _PR_SET_KEEPCAPS, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 1, 8, 24, 38, 47
_CAP_DAC_READ_SEARCH, _CAP_DAC_OVERRIDE = 2, 1
_FIRST_USER = 0x60000000
_SIGKILL = 9

_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # AUDIT_ARCH_…, column of the table
# Calls that document readers do not need and that reach beyond files: other processes, sockets and the kernel. Also
# calls that change another file's owner, mode and times, which Landlock does not control. Pairs of numbers (x86_64,
# aarch64); None: the architecture lacks the call.
_REFUSED: tuple[tuple[int | None, int | None], ...] = (
    (41, 198), (53, 199),  # socket, socketpair
    (425, 425), (426, 426), (427, 427),  # io_uring_*, which could open sockets unseen
    (62, 129), (200, 130), (129, 138), (297, 240), (424, 424), (434, 434), (438, 438),  # kill, tkill, *sigqueueinfo, pidfd_*
    (101, 117), (310, 270), (311, 271), (312, 272),  # ptrace, process_vm_*, kcmp
    (29, 194), (68, 186), (64, 190), (240, 180),  # shmget, msgget, semget, mq_open
    (321, 280), (298, 241), (323, 282), (250, 219), (248, 217), (249, 218),  # bpf, perf_event_open, userfaultfd, keys
    (165, 40), (166, 39), (155, 41), (161, 51), (272, 97), (308, 268),  # mount, umount2, pivot_root, chroot, unshare, setns
    (428, 428), (429, 429), (430, 430), (431, 431), (432, 432), (433, 433), (442, 442),  # the new mount calls
    (303, 264), (304, 265),  # name_to_handle_at, open_by_handle_at
    (175, 105), (313, 273), (176, 106), (246, 104), (320, 294), (169, 142), (167, 224), (168, 225),  # modules, kexec, reboot, swap
    (170, 161), (171, 162), (164, 170), (227, 112), (159, 171), (305, 266), (163, 89), (179, 60), (135, 92),  # names, clocks, …
    (76, 45), (90, None), (268, 53), (452, 452), (92, None), (94, None), (260, 54),  # truncate, chmod*, chown* by path
    (132, None), (235, None), (261, None), (280, 88),  # utime*
    (188, 5), (189, 6), (197, 14), (198, 15),  # setxattr, lsetxattr, removexattr, lremovexattr
    (133, None), (259, 33), (141, 140), (251, 30),  # mknod*, setpriority, ioprio_set
)  # fmt: skip
_CLONE3 = (435, 435)
_FORKS = ((57, None), (58, None))
_CLONE, _TGKILL, _PRLIMIT = (56, 220), (234, 131), (302, 261)
_CLONE_THREAD, _CLONE_NEW = 0x00010000, 0x7E020000

_LIBC = ctypes.CDLL(None, use_errno=True)


def landlock_version() -> int:
    """Return the kernel's Landlock version, or 0 without Landlock."""
    return max(0, int(_LIBC.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))))


def has_seccomp() -> bool:
    """Return whether this kernel filters system calls on an architecture of the table."""
    return os.uname().machine in _MACHINES and os.path.exists("/proc/sys/kernel/seccomp/actions_avail")


def confine(policy: dict) -> None:  # type: ignore[type-arg]
    """Confine this process and all its future child processes permanently.

    The keys of `policy`: `own` (working folder, or None), `read` and `execute` (lists of paths), `limits` (name of an
    RLIMIT_… → number), `processes` (number of child processes). The process must have one thread. Raises OSError if
    the kernel refuses.
    """
    limit(policy["limits"])
    os.umask(0o077)
    version = landlock_version()
    is_separate_user = version > 0 and os.geteuid() == 0 and _leave_root(policy["own"])
    if policy["processes"]:
        limit({"NPROC": policy["processes"] + (0 if is_separate_user else _count_threads())})
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    die_with_parent()
    if version:
        _restrict_files(policy, version)
    if has_seccomp():
        _filter_calls(fork=policy["processes"] > 0)


def limit(limits: dict) -> None:  # type: ignore[type-arg]
    """Set resource limits, but never raise existing limits."""
    for name, value in limits.items():
        which = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(which)[1]
        above = value + 5 if name == "CPU" else value  # SIGXCPU first, which names the cause; then SIGKILL
        lowest = above if hard == resource.RLIM_INFINITY else min(above, hard)
        resource.setrlimit(which, (min(value, lowest), lowest))


def die_with_parent() -> None:
    """Make the kernel kill this process when the thread that started it ends."""
    _prctl(_PR_SET_PDEATHSIG, _SIGKILL)


def _count_threads() -> int:
    """Return the user's number of threads, which RLIMIT_NPROC counts, plus a reserve for threads that start later."""
    found = 1024
    for process in os.listdir("/proc"):
        if not process.isdecimal():
            continue
        task = f"/proc/{process}/task"
        try:
            found += len(os.listdir(task)) if os.stat(task).st_uid == os.getuid() else 0
        except OSError:  # the process has ended
            continue
    return found


def _prctl(*arguments: int) -> None:
    if _LIBC.prctl(*(ctypes.c_ulong(argument) for argument in (*arguments, 0, 0, 0, 0)[:5])):
        raise OSError(ctypes.get_errno(), "prctl")


def _leave_root(own: str | None) -> bool:
    """Switch to a separate user without privileges, except for reading folders; Landlock then decides about files.

    Return False if the process may not do this (root in a container without capabilities). Landlock and seccomp still
    apply.
    """
    user = _FIRST_USER + os.getpid()
    with open("/proc/self/status") as status:
        capabilities = next(int(line.split()[1], 16) for line in status if line.startswith("CapPrm"))
    retained = next((which for which in (_CAP_DAC_READ_SEARCH, _CAP_DAC_OVERRIDE) if capabilities >> which & 1), None)
    if retained is None:
        return False
    try:
        if own:
            for path in (own, *(entry.path for entry in os.scandir(own))):
                os.chown(path, user, user, follow_symlinks=False)
        _prctl(_PR_SET_KEEPCAPS, 1)
        for capability in range(64):
            if capability != retained and _LIBC.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0):
                break  # the kernel's last capability
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    except OSError:
        return False
    mask = 1 << retained
    header = struct.pack("=Ii", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3
    if not _LIBC.capset(header, struct.pack("=6I", mask, mask, mask, 0, 0, 0)):
        _LIBC.prctl(_PR_CAP_AMBIENT, *map(ctypes.c_ulong, (2, retained, 0, 0)))
    else:
        _LIBC.capset(header, struct.pack("=6I", 0, 0, 0, 0, 0, 0))
    return True


def _restrict_files(policy: dict, version: int) -> None:  # type: ignore[type-arg]
    handled = (1 << _RIGHTS_OF_VERSION.get(version, 16)) - 1
    attributes = struct.pack("=QQQ", handled, 3, 3)[: 8 if version < 4 else 16 if version < 6 else 24]
    rules = _LIBC.syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    if rules < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")
    read = _READ | _READ_DIR
    granted = [(path, read) for path in (*SYSTEM, *policy["read"])]
    granted += [(path, read | _EXECUTE) for path in policy["execute"]]
    granted += [(path, _READ | _EXECUTE) for path in _list_loaders()]
    granted.append(("/dev/null", _READ | _WRITE | _TRUNCATE))
    if policy["own"]:
        granted.append((policy["own"], read | _WRITE | _TRUNCATE | _MAKE_AND_REMOVE))
    for path, rights in granted:
        try:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:  # a missing path cannot be read either
            continue
        rights &= handled if os.path.isdir(path) else _FILE_RIGHTS & handled
        if _LIBC.syscall(_LANDLOCK_ADD, rules, 1, struct.pack("=Qi", rights, handle), ctypes.c_uint32(0)):
            raise OSError(ctypes.get_errno(), "landlock_add_rule", path)
        os.close(handle)
    if _LIBC.syscall(_LANDLOCK_RESTRICT, rules, ctypes.c_uint32(0)):
        raise OSError(ctypes.get_errno(), "landlock_restrict_self")
    os.close(rules)


def _list_loaders() -> list[str]:
    found = []
    for folder, beginning in LOADERS:
        try:
            names = os.listdir(folder)
        except OSError:  # this system does not have the folder
            continue
        found += [f"{folder}/{name}" for name in names if name.startswith(beginning) and ".so" in name]
    return found


def _filter_calls(*, fork: bool) -> None:
    """Install the seccomp filter: a program that compares the number of each system call with the refused calls.

    A step is (operation, steps to skip if true, steps to skip if false, value), as in <linux/filter.h>.
    """
    architecture, column = _MACHINES[os.uname().machine]
    load, equal, at_least, any_of, answer = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, number, argument = 0x7FFF0000, 0, 16

    def refuse(error: int) -> tuple[int, int, int, int]:
        return (answer, 0, 0, 0x00050000 | error)

    def when(call: int | None, *steps: tuple[int, int, int, int]) -> list[tuple[int, int, int, int]]:
        return [] if call is None else [(equal, 0, len(steps), call), *steps]

    yes = (answer, 0, 0, allow)
    no = refuse(errno.EPERM)
    program = [(load, 0, 0, 4), (equal, 1, 0, architecture), (answer, 0, 0, 0x80000000), (load, 0, 0, number)]
    if column == 0:
        program += [(at_least, 0, 1, 0x40000000), no]  # the calls of x32
    for calls in (*_REFUSED, *(() if fork else _FORKS)):
        program += when(calls[column], no)
    # The filter cannot read the flags of clone3, which are in memory; the C library falls back to clone.
    program += when(_CLONE3[column], refuse(errno.ENOSYS))
    first = (load, 0, 0, argument)
    if fork:
        program += when(_CLONE[column], first, (any_of, 0, 1, _CLONE_NEW), no, yes)
    else:
        program += when(_CLONE[column], first, (any_of, 1, 0, _CLONE_THREAD), no, (any_of, 0, 1, _CLONE_NEW), no, yes)
    program += when(_TGKILL[column], first, (equal, 1, 0, os.getpid()), no, yes)
    program += when(_PRLIMIT[column], first, (equal, 1, 0, 0), no, yes)
    program.append(yes)
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in program))
    prepared = struct.pack("@HP", len(program), ctypes.addressof(code))
    if _LIBC.prctl(22, ctypes.c_ulong(2), ctypes.c_char_p(prepared), ctypes.c_ulong(0), ctypes.c_ulong(0)):
        raise OSError(ctypes.get_errno(), "seccomp")


def main() -> None:
    """Confine this process and execute the program. The arguments are its time limit in seconds, the policy and its command line."""
    try:
        confine(marshal.loads(bytes.fromhex(sys.argv[2])))
        setitimer(0, float(sys.argv[1]))
        for ignored in (SIGPIPE, SIGXFSZ):  # Python ignores these signals, and the next program would inherit that
            signal(ignored, SIG_DFL)
        os.execv(sys.argv[3], sys.argv[3:])
    except OSError as error:
        print(f"could not start the program in its sandbox: {error}", file=sys.stderr)
        os._exit(NOT_CONFINED)


if __name__ == "__main__":
    main()
