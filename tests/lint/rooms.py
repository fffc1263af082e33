# Rooms: every engine has the same files, so that who has read one engine knows all four.
from source import ENGINES

REQUIRED = ("README.md", "{engine}.h", "parameters.cpp", "{engine}.cpp", "kernel/kernel.h",
            "kernel/kernel.cpp", "kernel/kernel_reference.cpp", "kernel/kernel_cpu.cpp")
# Rooms that become required for every engine as soon as one engine has them.
SHARED_ONCE_BUILT = ("bench.cpp", "cuda/gpu_kernel.cuh", "cuda/kernel_cuda.cu")


def check(root, files):
    rooms = {}
    for path in files:
        if path.parts[:2] == ("src", "pleat") and len(path.parts) > 3 and path.parts[2] in ENGINES:
            rooms.setdefault(path.parts[2], set()).add("/".join(path.parts[3:]))
    built = {name for name in SHARED_ONCE_BUILT if any(name in have for have in rooms.values())}
    complaints = []
    for engine, have in sorted(rooms.items()):
        wanted = [name.format(engine=engine) for name in REQUIRED]
        wanted += [name for name in SHARED_ONCE_BUILT if name in built]
        complaints += [f"src/pleat/{engine}:1: expected the file {name}, found none"
                       for name in wanted if name not in have]
        if not any(name.startswith("tests/") and name.endswith(".cpp") for name in have):
            complaints.append(f"src/pleat/{engine}:1: expected tests/*.cpp, found none")
    return complaints
