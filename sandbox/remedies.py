"""What a machine lacks in, the setting that gives it out: a sysctl, a profile, a flag, a line each."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .errors import SandboxUnavailable
from .layers import Layer
from .probing import Capabilities, probe
from .records import Isolation

_DOCKER_FLAGS = "--security-opt seccomp=unconfined --security-opt apparmor=unconfined"
_KUBERNETES = (
    "in the pod's securityContext: seccompProfile: {type: Unconfined}, appArmorProfile: {type: Unconfined}"
)
_SCOPE = "systemd-run --user --scope -p Delegate=yes <command>"
_PROFILE = """\
abi <abi/4.0>,
include <tunables/global>
profile lm-eval-strict {python} flags=(unconfined) {{
  userns,
}}"""


@dataclass(frozen=True)
class Remedy:
    """One thing that is missing, and what to do: ``how`` is a command, a flag, or a file to install."""

    layer: str
    missing: str
    how: str


def remedies(capabilities: Capabilities, *, read: Callable[[str], str] | None = None) -> list[Remedy]:
    """List what would give the next better level, or a second wall, most wanted first.

    ``read`` returns a file's stripped text, or nothing where there is none; by default it reads the machine.
    """
    look = read or _read
    if not capabilities.platform.startswith("linux"):
        how = "grade elsewhere: --metadata grade=later here, then lm-eval-strict grade on a Linux machine"
        return [Remedy("platform", f"the sandbox needs Linux, this is {capabilities.platform}", how)]
    found = []
    if Isolation.FULL.value in capabilities.faults:
        found.append(_for_full(capabilities, look))
    if not capabilities.landlock:
        found.append(_for_landlock(look))
    if capabilities.cgroup == "none":
        missing = "no control group may be made here: limits hold by rlimits alone"
        found.append(Remedy(Layer.CGROUP.value, missing, _SCOPE))
    return found


def _for_full(capabilities: Capabilities, look: Callable[[str], str]) -> Remedy:
    faults = capabilities.faults
    user = Layer.USER_NAMESPACE.value
    if user in faults:
        return Remedy(user, faults[user], _for_user_namespace(capabilities, look))
    view = Layer.FILE_VIEW.value
    if view in faults:
        if look("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
            return Remedy(view, faults[view], _apparmor_profile())
        return Remedy(view, faults[view], _for_container(look))
    for layer, fault in faults.items():
        if layer not in (Isolation.FULL.value, Isolation.REDUCED.value, Layer.CGROUP.value):
            return Remedy(layer, fault, _for_container(look))
    return Remedy(Isolation.FULL.value, faults[Isolation.FULL.value], _for_container(look))


def _for_user_namespace(capabilities: Capabilities, look: Callable[[str], str]) -> str:
    if look("/proc/sys/user/max_user_namespaces") == "0":
        return "sudo sysctl -w user.max_user_namespaces=15000"
    if look("/proc/sys/kernel/unprivileged_userns_clone") == "0" and not capabilities.is_root:
        return "sudo sysctl -w kernel.unprivileged_userns_clone=1"
    if look("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" and not capabilities.is_root:
        return _apparmor_profile()
    return _for_container(look)


def _apparmor_profile() -> str:
    profile = _PROFILE.format(python=os.path.realpath(sys.executable))
    name = "/etc/apparmor.d/lm-eval-strict"
    return (
        f"write this to {name}, then: sudo apparmor_parser -r {name}\n{profile}\n"
        "or, for every program: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    )


def _for_container(look: Callable[[str], str]) -> str:
    if look("/var/run/secrets/kubernetes.io/serviceaccount/namespace"):
        return _KUBERNETES
    return f"in a container: docker run {_DOCKER_FLAGS} ... (podman takes the same flags)"


def _for_landlock(look: Callable[[str], str]) -> Remedy:
    modules = look("/sys/kernel/security/lsm")
    missing = "the kernel offers no Landlock"
    if modules and "landlock" not in modules.split(","):
        how = f"boot with lsm=landlock,{modules}"
    else:
        how = "a kernel of version 5.13 or later with CONFIG_SECURITY_LANDLOCK, landlock in its lsm= list"
    return Remedy(Layer.LANDLOCK.value, missing, how)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def explained(refused: SandboxUnavailable, level: Isolation) -> SandboxUnavailable:
    """Say in one line what stood in the way of ``level``, and what is to be had; tries everything."""
    capabilities = probe()
    strength = [Isolation.NONE, Isolation.REDUCED, Isolation.FULL].index
    if strength(capabilities.level) >= strength(level):
        return refused
    first = remedies(capabilities)[0]
    return SandboxUnavailable(
        f"isolation={level.value}: not to be had ({first.missing}); at best {capabilities.level.value}",
        "lm-eval-strict doctor tells what would give it",
    )
