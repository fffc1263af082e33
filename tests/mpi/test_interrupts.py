# A signal to mpirun or to one rank stops all ranks in good order, and the run goes on later.
import os
import signal
import unittest

from launcher import RanksTest, finish, rank_processes

TILES = 400


class InterruptsTest(RanksTest):
    def start_run(self):
        return self.start_sums(3, TILES, 20, *(f"checkpoint.rank{rank}.npz" for rank in range(3)))

    def test_one_rank(self):
        process = self.start_run()
        os.kill(rank_processes(process)[1], signal.SIGHUP)
        self.assert_told_once(finish(process), 130, "sums: stopped after ")
        self.assertLess(self.assert_finishes(TILES), TILES)

    def test_a_signal_that_mpirun_passes_on(self):
        process = self.start_run()
        os.kill(process.pid, signal.SIGUSR1)
        done = finish(process)
        self.assert_told_once(done, 130, "they are kept in ")
        self.assertLess(done[3], 10)
        self.assertLess(self.assert_finishes(TILES, ranks=2), TILES)

    def assert_mpirun_stops_all(self, which):
        # mpirun sends its ranks SIGTERM a second later, SIGKILL after one more, and exits with 1
        # whatever they do.
        process = self.start_run()
        os.kill(process.pid, which)
        code, _, err, seconds = finish(process)
        self.assertNotEqual(code, 0)
        self.assertEqual(err.count("told: sums: stopped after "), 1, err)
        self.assertLess(seconds, 10)
        self.assertLess(self.assert_finishes(TILES, ranks=4), TILES)

    def test_ctrl_c_at_mpirun(self):
        self.assert_mpirun_stops_all(signal.SIGINT)

    def test_a_closed_terminal_at_mpirun(self):
        self.assert_mpirun_stops_all(signal.SIGHUP)


if __name__ == "__main__":
    unittest.main()
