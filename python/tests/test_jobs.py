# Jobs: lists and sweeps of a command from Python, with the files of the program.
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pleat
import pytest
from helpers import DATA, family, program

HIVP = {"topology": DATA / "hivp.pdb.gz", "select": "ca"}


def results(folder):
    """{file: bytes} of all runs, without what says when and how fast they were made."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in Path(folder).rglob("*")
            if path.is_file() and path.name not in ("manifest.json", "log.txt", "jobs.tsv")}


def write_family(path, sequences=40):
    path.write_text("\n".join(family(sequences, columns=24)) + "\n", encoding="ascii")
    return path


def test_sweeps_write_what_the_program_writes(tmp_path):
    table = pleat.run_jobs("cluster", DATA / "hivp.dcd.gz", output=tmp_path / "here",
                           sweep={"cutoff": [1, 1.5], "method": ["gromos", "average"]}, threads=2, **HIVP)
    assert [(job["method"], job["cutoff"]) for job in table] == [
        ("gromos", 1), ("average", 1), ("gromos", 1.5), ("average", 1.5)]
    assert {job["status"] for job in table} == {"done"}
    assert table[0]["name"] == "hivp" and table[0]["clusters"] == 117 and table[0]["error"] is None
    assert table.failed == []
    assert all(Path(job["folder"], "manifest.json").is_file() for job in table)
    program("cluster", DATA / "hivp.dcd.gz", "--each", "--topology", HIVP["topology"], "--select", "ca", "-o",
            tmp_path / "there", "--sweep", "cutoff=1,1.5", "--sweep", "method=gromos,average")
    assert results(tmp_path / "here") == results(tmp_path / "there")
    # The program finds them finished, and so does the next call.
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("here/**/manifest.json")}
    program("cluster", DATA / "hivp.dcd.gz", "--each", "--topology", HIVP["topology"], "--select", "ca", "-o",
            tmp_path / "here", "--sweep", "cutoff=1,1.5", "--sweep", "method=gromos,average")
    again = pleat.run_jobs("cluster", [DATA / "hivp.dcd.gz"], output=tmp_path / "here",
                           sweep={"cutoff": "1:1.5:0.5", "method": ["gromos", "average"]}, threads=2, **HIVP)
    assert [job["clusters"] for job in again] == [job["clusters"] for job in table]
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.glob("here/**/manifest.json")}


def test_a_broken_job_is_a_row_and_stops_no_other(tmp_path):
    good = write_family(tmp_path / "good.aln")
    (tmp_path / "broken.aln").write_text("ACD\nAC\n", encoding="ascii")
    heard = []
    table = pleat.run_jobs("couplings", [tmp_path / "broken.aln", good], output=tmp_path / "runs",
                           progress=lambda *told: heard.append(told), models=False)
    assert [job["status"] for job in table] == ["failed", "done"]
    assert "broken.aln" in table[0]["error"] and table[0]["sequences"] is None
    assert table.failed == [table[0]]
    assert table[1]["sequences"] == 40 and table[1]["seconds"] > 0
    assert heard[-1][:3] == ("jobs", 2, 2)
    assert not (tmp_path / "runs/good/couplings.npz").exists()
    assert (tmp_path / "runs/jobs.tsv").is_file()


def test_one_input_is_a_job_of_every_command(tmp_path):
    rows = write_family(tmp_path / "family.aln")
    calls = {"couplings": (rows, {}), "mi": (rows, {"shuffles": 50, "seed": 3}),
             "rmsd": (DATA / "hivp.dcd.gz", {**HIVP, "frames": ":20"}),
             "cluster": (DATA / "hivp.dcd.gz", {**HIVP, "cutoff": 1.5}),
             "saxs": (DATA / "1hel.pdb.gz", {"q_points": 11}),
             "refine": (DATA / "1a8o.pdb.gz", {"linkers": "A:174-179", "frames": 20, "moves": 2}),
             "select": (DATA / "hivp.dcd.gz", {"topology": DATA / "hivp.pdb.gz", "frames": ":8", "min_size": 1,
                                               "data": DATA / "1hel_made.dat.gz"})}
    for command, (source, options) in calls.items():
        table = pleat.run_jobs(command, source, output=tmp_path / command, **options)
        assert [job["status"] for job in table] == ["done"], (command, table)
        assert Path(table[0]["folder"]).parent == tmp_path / command


def test_lists_with_options_of_their_own(tmp_path):
    write_family(tmp_path / "a.aln")
    path = tmp_path / "list.tsv"
    path.write_text(f"name\talignment\tidentity\none\t{tmp_path}/a.aln\t0.7\ntwo\t{tmp_path}/a.aln\t0.9\n")
    table = pleat.run_jobs("couplings", list_file=path, output=tmp_path / "runs", share=True)
    assert [(job["name"], job["identity"], job["status"]) for job in table] == [
        ("one", 0.7, "done"), ("two", 0.9, "done")]
    pandas = pytest.importorskip("pandas", reason="pandas is not there")
    frame = table.to_dataframe()
    assert isinstance(frame, pandas.DataFrame) and list(frame["identity"]) == [0.7, 0.9]


def test_refuses_before_any_work(tmp_path):
    rows = write_family(tmp_path / "a.aln")
    for call, error, text in [
            (lambda: pleat.run_jobs("fold", rows, output=tmp_path / "x"), pleat.UsageError, "couplings, mi"),
            (lambda: pleat.run_jobs("couplings", rows, output=tmp_path / "x", lambda_pare=1), pleat.UsageError,
             "lambda_pare"),
            (lambda: pleat.run_jobs("couplings", rows, output=tmp_path / "x", lambda_pair="a"), pleat.UsageError,
             "lambda_pair"),
            (lambda: pleat.run_jobs("couplings", rows, output=tmp_path / "x", lambda_pair=[1]), TypeError,
             "lambda_pair"),
            (lambda: pleat.run_jobs("couplings", rows, output=tmp_path / "x", estimate=True), pleat.UsageError,
             "estimate"),
            (lambda: pleat.run_jobs("couplings", rows, output=tmp_path / "x", sweep={"identity": [0.5, 0.5]}),
             pleat.UsageError, "identity"),
            (lambda: pleat.run_jobs("couplings", [rows, rows], output=tmp_path / "x"), pleat.UsageError, "a"),
            (lambda: pleat.run_jobs("couplings", tmp_path / "no.aln", output=tmp_path / "x"), pleat.InputError,
             "no.aln"),
            (lambda: pleat.run_jobs("couplings", output=tmp_path / "x"), pleat.UsageError, "input")]:
        with pytest.raises(error, match=text):
            call()
    assert not (tmp_path / "x").exists()


def test_what_progress_raises_stops_the_jobs(tmp_path):
    rows = [write_family(tmp_path / f"{n}.aln") for n in range(6)]

    def stop(*_):
        raise RuntimeError("enough")
    with pytest.raises(RuntimeError, match="enough"):
        pleat.run_jobs("mi", rows, output=tmp_path / "runs", shuffles=2000, threads=1, progress=stop)
    table = pleat.run_jobs("mi", rows, output=tmp_path / "runs", shuffles=2000, threads=1)
    assert {job["status"] for job in table} == {"done"}


def test_ctrl_c_stops_all_jobs_and_the_same_call_resumes(tmp_path):
    rows = [str(write_family(tmp_path / f"{n}.aln", 150)) for n in range(4)]
    code = textwrap.dedent(f"""
        import pleat, signal
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("begins", flush=True)
        try:
            pleat.run_jobs("mi", {rows!r}, output={str(tmp_path / 'runs')!r}, shuffles=3000000, null="sampled",
                           threads=2)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as child:
        watchdog = threading.Timer(120, child.kill)
        watchdog.start()
        assert child.stdout.readline() == "begins\n"
        while not (tmp_path / "runs/jobs.tsv").exists() and child.poll() is None:
            time.sleep(0.05)
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        sent = time.monotonic()
        out, errors = child.communicate()
        watchdog.cancel()
    assert out == "interrupted\n", errors
    assert time.monotonic() - sent < 60
    assert errors == ""
    statuses = [line.split("\t")[1] for line in (tmp_path / "runs/jobs.tsv").read_text().splitlines()
                if not line.startswith("#")][1:]
    assert set(statuses) <= {"waiting", "unfinished"} and len(statuses) == 4


def test_other_threads_of_python_run_meanwhile(tmp_path):
    rows = [write_family(tmp_path / f"{n}.aln") for n in range(3)]
    ticks, is_over = [], threading.Event()

    def tick():
        while not is_over.wait(0.005):
            ticks.append(1)
    thread = threading.Thread(target=tick)
    thread.start()
    pleat.run_jobs("mi", rows, output=tmp_path / "runs", shuffles=5000)
    is_over.set()
    thread.join()
    assert len(ticks) > 3
