"""The system call filter, run as the kernel runs it, on both architectures."""

from __future__ import annotations

import struct

import pytest

from lm_eval_strict.sandbox import call_numbers, seccomp


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_decides_each_call_as_listed(machine: str) -> None:
    numbers = call_numbers.call_numbers(machine)
    code = seccomp.build(machine, file_attributes=False)
    allowed = {name for name, number in numbers.items() if _decide(code, machine, number) == 0x7FFF0000}
    assert {"read", "futex", "openat", "exit_group", "mmap"} <= allowed
    refused = {"mount", "ptrace", "socket", "execve", "bpf", "io_uring_setup", "memfd_create", "keyctl"}
    assert not allowed & (refused | {"fchmodat", "unshare", "setns", "clone3", "kill", "fork", "connect"})
    assert _decide(code, machine, numbers["clone3"]) == 0x00050000 | 38
    assert _decide(code, machine, numbers["mount"]) == 0x00050000 | 1
    assert _decide(code, machine, 5000) == 0x00050000 | 38
    assert _decide(code, machine, 0x40000000 | 39) == 0x80000000
    assert _decide(code, "other", numbers["read"]) == 0x80000000


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_looks_at_arguments(machine: str) -> None:
    numbers = call_numbers.call_numbers(machine)
    code = seccomp.build(machine, file_attributes=True)
    allow, refuse = 0x7FFF0000, 0x00050000 | 1
    thread = 0x3D0F00
    for name, arguments, answer in [
        ("clone", (thread,), allow),
        ("clone", (17,), refuse),
        ("clone", (thread | 0x10000000,), refuse),
        ("clone", (thread | 0x20000,), refuse),
        ("socketpair", (1, 1), allow),
        ("socketpair", (1, 0x80001), allow),
        ("socketpair", (1, 2), refuse),
        ("socketpair", (2, 1), refuse),
        ("sendto", (3, 0, 0, 0, 0), allow),
        ("sendto", (3, 0, 0, 0, 1), refuse),
        ("sendto", (3, 0, 0, 0, 1 << 32), refuse),
        ("ioctl", (0, 0x5412), refuse),
        ("ioctl", (0, 0x5401), allow),
        ("prctl", (1,), refuse),
        ("prctl", (15,), allow),
        ("fcntl", (0, 8), refuse),
        ("fcntl", (0, 1030), allow),
        ("kill", (2**32 - 1,), refuse),
    ]:
        assert _decide(code, machine, numbers[name], arguments) == answer, (name, arguments)


def _decide(code: bytes, machine: str, number: int, arguments: tuple[int, ...] = ()) -> int:
    """Run a filter program as the kernel would."""
    arch = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}.get(machine, 0x40000003)
    data = struct.pack("=iIQ6Q", number, arch, 0, *arguments, *[0] * (6 - len(arguments)))
    program = list(struct.iter_unpack("=HBBI", code))
    assert len(program) < 4096
    at = register = index = 0
    memory = [0] * 16
    while True:
        operation, yes, no, value = program[at]
        at += 1
        if operation == 0x20:
            register = struct.unpack_from("=I", data, value)[0]
        elif operation == 0x54:
            register &= value
        elif operation == 0x05:
            at += value
        elif operation == 0x15:
            at += yes if register == value else no
        elif operation == 0x35:
            at += yes if register >= value else no
        elif operation == 0x45:
            at += yes if register & value else no
        elif operation == 0x00:
            register = value
        elif operation == 0x02:
            memory[value] = register
        elif operation == 0x60:
            register = memory[value]
        elif operation == 0x07:
            index = register
        elif operation == 0x6C:
            register = register << index & 0xFFFFFFFF
        else:
            assert operation == 0x06
            return value


def test_an_unknown_architecture_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="riscv64"):
        call_numbers.call_numbers("riscv64")


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize(
    ("flags", "cuts"), [(0, False), (0o1000, True), (0o1001, False), (0o1002, False), (0o101000, True)]
)
def test_a_readable_file_cannot_be_cut_where_the_host_files_are_in_sight(
    machine: str, flags: int, cuts: bool
) -> None:
    numbers = call_numbers.call_numbers(machine)
    code = seccomp.build(machine, file_attributes=False)
    answer = 0x00050000 | 1 if cuts else 0x7FFF0000
    assert _decide(code, machine, numbers["openat"], (0, 0, flags)) == answer
    assert "open" not in numbers or _decide(code, machine, numbers["open"], (0, flags)) == answer
    assert _decide(code, machine, numbers["truncate"]) == 0x00050000 | 1
    assert _decide(code, machine, numbers["openat2"]) == 0x00050000 | 38
    private = seccomp.build(machine, file_attributes=True)
    assert _decide(private, machine, numbers["openat"], (0, 0, flags)) == 0x7FFF0000
