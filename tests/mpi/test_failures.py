# A failure of any rank at any place ends all ranks soon, with its exit code and one line.
import unittest

from launcher import CHECK_COMM, RANK_SUMS, RanksTest, finish, kill_rank_alone, mpirun


class FailuresTest(RanksTest):
    def test_each_place_and_rank(self):
        for failure in ("early", "tile", "after", "late"):
            for rank in (0,) if failure == "late" else (0, 2):
                with self.subTest(failure=failure, rank=rank):
                    self.run_folder = self.folder / f"{failure}{rank}"
                    # Three ranks take the tiles in turn: tile 5 is that of rank 2, tile 3 of rank 0.
                    done = mpirun(3, RANK_SUMS, self.run_folder, 12, 1, failure, rank, 3 + rank)
                    where = "" if rank == 0 else f"rank {rank} on "
                    self.assert_told_once(done, 3, where)
                    self.assert_told_once(done, 3, f"failed as asked: {failure}")
                    self.assertLess(done[3], 8)
                    self.assert_finishes(12)

    def test_a_folder_that_cannot_be_made(self):
        (self.folder / "file").write_text("x")
        done = mpirun(3, RANK_SUMS, self.folder / "file" / "run", 12, 1)
        self.assert_told_once(done, 5, "file/run")
        self.assertNotIn("rank", done[2].split("/")[0])

    def test_the_same_error_on_all_ranks_is_told_once(self):
        self.assert_told_once(mpirun(4, RANK_SUMS, "too", "few"), 2, "expected 3 or 6 arguments")

    def test_a_rank_that_waits_long_tells_and_ends_all(self):
        # The other ranks do not meet it, for they work for 50 s by themselves.
        done = mpirun(3, RANK_SUMS, self.run_folder, 2, 0, "alone", 1, 0)
        self.assert_told_once(done, 3, "failed as asked: alone")
        self.assertIn("told: rank 1 on ", done[2])
        self.assertLess(done[3], 40)

    def test_memory_refused_on_one_rank_ends_all(self):
        for operation in ("broadcast", "gather"):
            with self.subTest(operation=operation):
                done = mpirun(3, CHECK_COMM, operation)
                self.assert_told_once(done, 4, "memory ran out")
                self.assertIn("told: rank 1 on ", done[2])
                self.assertLess(done[3], 8)

    def loss(self, rank):
        return [f"told: rank {rank} ended without reporting an error (killed, perhaps because "
                "memory ran out); run the same command again to resume"]

    def told(self, err):
        return [line for line in err.splitlines() if line.startswith("told: ")]

    def test_a_killed_rank_ends_all(self):
        for tile, rank in ((7, 1), (6, 0)):
            with self.subTest(rank=rank):
                self.run_folder = self.folder / f"rank{rank}"
                code, _, err, seconds = mpirun(3, RANK_SUMS, self.run_folder, 12, 1, "kill", 0, tile)
                self.assertNotEqual(code, 0, err)
                # mpirun may kill the others before they see that one was lost.
                self.assertIn(self.told(err), ([], self.loss(rank)))
                self.assertLess(seconds, 20)
                self.assertLessEqual(self.assert_finishes(12), 12)

    def test_a_killed_rank_ends_all_where_the_launcher_does_nothing(self):
        for rank in (0, 2):
            with self.subTest(rank=rank):
                self.run_folder = self.folder / f"rank{rank}"
                process = self.start_sums(3, 400, 20, *(f"checkpoint.rank{one}.npz"
                                                        for one in range(3)))
                kill_rank_alone(process, rank)
                code, _, err, _ = finish(process)
                self.assertNotEqual(code, 0)
                self.assertEqual(self.told(err), self.loss(rank))
                self.assertLess(self.assert_finishes(400, ranks=2), 400)


if __name__ == "__main__":
    unittest.main()
