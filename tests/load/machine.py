"""What a figure was measured on, and what it cost: printed by every load tool."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

import psutil

PACKAGES = ("django", "channels", "channels-redis", "daphne", "twisted", "msgspec", "psycopg", "redis")


def describe(**settings: object) -> str:
    """Machine, versions and settings, a line each."""
    cores = len(os.sched_getaffinity(0))
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    said = ", ".join(f"{name}={value}" for name, value in settings.items())
    load = os.getloadavg()[0]
    return (
        f"machine   {_processor()}, {cores} cores, {psutil.virtual_memory().total >> 30} GiB, load {load:.1f} before\n"
        f"versions  Python {platform.python_version()}, {versions}\n"
        f"settings  {said}"
    )


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.processor())


def family(pid: int) -> list[psutil.Process]:
    """A process and its children."""
    parent = psutil.Process(pid)
    return [parent, *parent.children(recursive=True)]


def role(process: psutil.Process) -> str:
    """What a process of the site is there for; nothing once it has ended."""
    try:
        words, name = process.cmdline(), process.name()
    except psutil.Error:
        return ""
    for word in ("web", "clock", "up", "tests.load.baseline"):
        if word in words:
            return word.rpartition(".")[2]
    return name


def cpu_seconds(processes: list[psutil.Process]) -> dict[str, float]:
    """Processor time so far, by role. A server's own children count for it."""
    spent: dict[str, float] = {}
    for process in processes:
        try:
            times, name = process.cpu_times(), role(process)
        except psutil.NoSuchProcess:
            continue
        spent[name] = spent.get(name, 0) + times.user + times.system
    return spent


def memory(processes: list[psutil.Process], name: str) -> int:
    """Resident bytes of the processes of one role."""
    return sum(process.memory_info().rss for process in processes if process.is_running() and role(process) == name)


def pin(cores: set[int]) -> None:
    """This process, and those it starts from now on, run on these cores alone; all where there are not two."""
    if os.cpu_count() and os.cpu_count() > 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)
