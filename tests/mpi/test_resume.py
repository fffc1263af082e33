# Killed at any moment and started again on any number of ranks, a run gives the bits of one rank.
import random
import time
import unittest

from launcher import RANK_SUMS, RanksTest, kill_all, mpirun

TILES = 60


class ResumeTest(RanksTest):
    def test_any_number_of_ranks_gives_the_same_totals(self):
        expected = self.totals(TILES)
        for ranks in (1, 2, 4):
            code, out, err, _ = mpirun(ranks, RANK_SUMS, self.folder / f"run{ranks}", TILES, 0)
            self.assertEqual((code, err, out.split()), (0, "", [expected, str(TILES)]))

    def test_kills(self):
        chance = random.Random(1)
        kills = 0
        for ranks in (3, 1, 4, 2):
            process = self.start_sums(ranks, TILES, 30, "checkpoint.rank0.npz")
            time.sleep(chance.uniform(0.0, 0.4))
            if process.poll() is None:
                kill_all(process)
                kills += 1
        self.assertGreaterEqual(kills, 3)
        self.assertLess(self.assert_finishes(TILES), TILES)


if __name__ == "__main__":
    unittest.main()
