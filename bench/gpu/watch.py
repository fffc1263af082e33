# What nvidia-smi tells of the GPUs while a program runs: how busy they are, and their memory.
import contextlib
import statistics
import subprocess

SAMPLE_MILLISECONDS = 250


@contextlib.contextmanager
def watched_gpus(found):
    """Adds, for each GPU, the mean share of time in which kernels ran, and the most memory in use, MiB."""
    try:
        watch = subprocess.Popen(
            ["nvidia-smi", "--query-gpu=index,utilization.gpu,memory.used",
             "--format=csv,noheader,nounits", "-lms", str(SAMPLE_MILLISECONDS)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        watch.terminate()
        busy, used = {}, {}
        for line in watch.communicate()[0].splitlines():
            words = [word.strip() for word in line.split(",")]
            if len(words) == 3 and all(word.isdigit() for word in words):
                busy.setdefault(words[0], []).append(int(words[1]))
                used[words[0]] = max(used.get(words[0], 0), int(words[2]))
        found["gpu_busy_percent"] = {index: statistics.mean(values) for index, values in busy.items()}
        found["gpu_memory_mib"] = used
