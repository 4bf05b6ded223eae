# SPDX-License-Identifier: Apache-2.0
"""What the tests of the cplayout command share: running it, and TAP.

Environment: CPLAYOUT is the command (words of a shell line), top_srcdir the source tree.
"""
import fcntl
import json
import os
import pty
import shlex
import struct
import subprocess
import termios
import traceback

COMMAND = shlex.split(os.environ.get("CPLAYOUT", "tools/cplayout"))
TOP = os.environ.get("top_srcdir", ".")
HANG = 120  # seconds after which a command counts as hanging


class Skip(Exception):
    """A test that cannot run here; its text says why."""


def run(*words, env=None):
    done = subprocess.run(COMMAND + [str(word) for word in words], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=HANG,
                          env={**os.environ, **(env or {})})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def answer(*words):
    """The JSON of a command that should succeed."""
    status, out, err = run(*words, "--json")
    assert status == 0 and err == "", f"{words}: status {status}, stderr {err!r}"
    return json.loads(out)


def refuse(status, words, parts, option=None):
    """The command fails with `status` and a message that has all `parts`, in both forms."""
    got, out, err = run(*words)
    assert got == status, f"{words}: status {got}, not {status}; stderr {err!r}"
    assert out == "", f"{words}: stdout {out!r}"
    for part in parts:
        assert part in err, f"{words}: stderr {err!r} lacks {part!r}"

    got, out, err_json = run(*words, "--json")
    error = json.loads(out)["error"]
    assert got == status and err_json == err, f"{words}: with --json {got} {err_json!r}"
    assert sorted(error) == ["code", "hint", "message", "option"], f"{words}: {error}"
    assert error["code"] and error["message"], f"{words}: {error}"
    assert err.count(error["message"]) == 1, f"{words}: stderr {err!r}"
    if option is not None:
        assert error["option"] == option, f"{words}: names option {error['option']!r}"


def in_terminal(words, columns, status=0, **env):
    """What the command writes to a terminal of that width before it exits with `status`."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    base = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "LC_ALL", "LC_CTYPE")}
    with subprocess.Popen(COMMAND + list(words), stdout=follower, stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE,
                          env={**base, "TERM": "xterm", "LANG": "C", **env}) as process:
        os.close(follower)
        written = b""
        while True:
            try:
                part = os.read(leader, 4096)
            except OSError:  # how Linux says that the other end is closed
                break
            if not part:
                break
            written += part
        assert process.wait(HANG) == status, process.stderr.read()
    os.close(leader)
    return written.decode()


def tests_of(module):
    return [(name, test) for name, test in module.items() if name.startswith("test_")]


def run_tests(module):
    """Runs every test_* of a module's globals(); returns the exit status."""
    tests = tests_of(module)
    failed = 0
    print(f"1..{len(tests)}", flush=True)
    for number, (name, test) in enumerate(tests, 1):
        title = name[len("test_"):].replace("_", " ")
        try:
            test()
            print(f"ok {number} - {title}", flush=True)
        except Skip as reason:
            print(f"ok {number} - {title} # SKIP {reason}", flush=True)
        except Exception:  # whatever goes wrong, the other tests still run
            failed += 1
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
            print(f"not ok {number} - {title}", flush=True)
    return 1 if failed else 0
