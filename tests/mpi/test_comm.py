# Every meeting of Comm gives what it promises, on one to four ranks.
import unittest

from launcher import CHECK_COMM, RanksTest, mpirun


class CommTest(RanksTest):
    def test_meetings(self):
        for ranks in (1, 2, 3, 4):
            with self.subTest(ranks=ranks):
                self.assertEqual(mpirun(ranks, CHECK_COMM)[:3], (0, f"checked {ranks} ranks\n", ""))

    def test_bound_ranks(self):
        code, out, err, _ = mpirun(2, CHECK_COMM, options=["--bind-to", "core:overload-allowed"])
        self.assertEqual((code, out, err), (0, "checked 2 ranks\n", ""))


if __name__ == "__main__":
    unittest.main()
