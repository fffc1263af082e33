# The same input gives the same files, bit for bit, however it is given and on any number of threads.
import gzip
import unittest

from program import ProgramTest, manifest, read_npz, results, small_rows


class Repeat(ProgramTest):
    def setUp(self):
        super().setUp()
        self.family = self.write_alignment(small_rows(150))

    def assert_same(self, one, other):
        one, other = results(one), results(other)
        self.assertEqual(sorted(one), sorted(other))
        for name, bytes_ in one.items():
            self.assertEqual(bytes_, other[name], name)

    def test_two_runs_and_two_threads(self):
        first = self.fit(self.family, "-t", "1", run="first")
        self.assert_same(first, self.fit(self.family, "-t", "1", run="second"))
        self.assert_same(first, self.fit(self.family, "-t", "2", run="third"))

    def test_packed_and_piped(self):
        first = results(self.fit(self.family, run="first"))
        packed = self.folder / "family.aln.gz"
        packed.write_bytes(gzip.compress(self.family.read_bytes()))
        self.assertEqual(first, results(self.fit(packed, run="packed")))
        piped = self.fit("-", run="piped", input=packed.read_bytes())
        self.assertEqual(first, results(piped))
        hashes = [manifest(self.folder / run)["inputs"][0]["sha256"] for run in ("packed", "piped")]
        self.assertEqual(hashes[0], hashes[1])
        self.assertEqual(manifest(piped)["inputs"][0]["path"], "stdin")

    def test_a_fit_may_start_from_an_earlier_one(self):
        cold = self.fit(self.family, "--tolerance", "1e-6", "--models", "npz", run="cold")
        warm = self.fit(self.family, "--tolerance", "1e-6", run="warm",
                        *("-i", cold / "couplings.npz"))
        told = [manifest(run)["results"] for run in (cold, warm)]
        self.assertLess(told[1]["iterations"], told[0]["iterations"])
        self.assertLess(abs(told[0]["objective"] / told[1]["objective"] - 1), 2e-6)

    def test_every_instruction_set_ends_at_the_same_scores(self):
        reference = self.fit(self.family, "-d", "reference", "--tolerance", "1e-6", run="reference")
        expected = read_npz(reference / "scores.npz")["corrected"][1]
        for name in ("baseline", "avx2", "avx512"):
            with self.subTest(name):
                try:
                    run = self.fit(self.family, "--tolerance", "1e-6", run=name,
                                   environment={"PLEAT_SIMD": name})
                except AssertionError as refusal:
                    if "PLEAT_SIMD: expected one of" in str(refusal):
                        self.skipTest(f"this machine lacks {name}")
                    raise
                found = read_npz(run / "scores.npz")["corrected"][1]
                self.assertLess(max(abs(a - b) for a, b in zip(found, expected)),
                                1e-3 * max(expected))


if __name__ == "__main__":
    unittest.main()
