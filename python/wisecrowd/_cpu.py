"""Loads the engine that was built for the processor at hand, where a wheel carries several (cmake/cpu_levels.cmake)."""
import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

# What the levels of x86-64 ask for beyond the one before, in the words of /proc/cpuinfo.
_LEVELS = {
    "v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
    "v3": {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"},
    "v4": {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"},
}


def possible_levels(cpuinfo="/proc/cpuinfo"):
    """The levels of x86-64 that the processor has, best first."""
    try:
        lines = Path(cpuinfo).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    flags = next((set(line.partition(":")[2].split()) for line in lines if line.startswith("flags")), set())
    found = []
    for level, needed in _LEVELS.items():
        if not needed <= flags:
            break
        found.insert(0, level)
    return found or ["v2"]


def engine_file(folder, possible, asked=None):
    """The file of the engine to load, or nothing where the package has one engine alone."""
    files = {path.name[len("_engine_") :].partition(".")[0]: path for path in sorted(Path(folder).glob("_engine_v*"))
             if path.name.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES))}
    if not files:
        return None
    usable = [level for level in possible if level in files]
    if asked:
        if asked not in usable:
            raise ImportError(f"WISECROWD_CPU asks for a processor level that is not to be had here; choose one of: {', '.join(usable)}")
        return files[asked]
    if not usable:
        raise ImportError("this processor is older than x86-64-v2 (it has no SSE4.2): build wisecrowd on it (pip install --no-binary wisecrowd wisecrowd)")
    return files[usable[0]]


def load():
    """Makes `wisecrowd._engine` the one for this processor."""
    name = f"{__package__}._engine"
    path = engine_file(Path(__file__).parent, possible_levels(), os.environ.get("WISECROWD_CPU"))
    if path is None or name in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    sys.modules[__package__]._engine = module
