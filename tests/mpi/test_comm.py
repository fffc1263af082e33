# Every meeting of Comm gives what it promises, on one to four ranks.
import os
import re
import unittest

from launcher import CHECK_COMM, RanksTest, mpirun

CPUS = len(os.sched_getaffinity(0))


class CommTest(RanksTest):
    def check(self, ranks, *options):
        """(CPUs that the ranks have, CPUs that are idle)"""
        code, out, err, _ = mpirun(ranks, CHECK_COMM, options=options)
        self.assertEqual((code, err), (0, ""))
        found = re.fullmatch(r"checked (\d) ranks on (\d+) CPUs, (\d+) idle\n", out)
        self.assertTrue(found, out)
        self.assertEqual(int(found[1]), ranks)
        return int(found[2]), int(found[3])

    def test_meetings_of_ranks_that_share_all_cpus(self):
        for ranks in (1, 2, 3, 4):
            with self.subTest(ranks=ranks):
                self.assertEqual(self.check(ranks), (CPUS, 0))

    def test_ranks_bound_to_a_core_each(self):
        used, idle = self.check(1, "--bind-to", "core:overload-allowed")
        self.assertEqual(used + idle, CPUS)
        self.assertLessEqual(used, max(8, CPUS // 2))  # the threads of one core
        self.check(2, "--bind-to", "core:overload-allowed")


if __name__ == "__main__":
    unittest.main()
