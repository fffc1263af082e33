# Commands for a fresh Debian 12 or 13: `make demo` runs every engine, `make test` every test, `make test-mpi`
# those of several ranks, `make test-faults` hundreds of kills and other faults, `make test-strangers
# FOLDER=...` compares pleat with small readers on any files, `make docs` the
# documentation's site, `make packages` what others install, `make test-packages` tries it in bare systems.

PRESET ?= release

.PHONY: check-arm64 demo docs packages test test-arm64 test-faults test-mpi test-packages test-strangers

demo:
	scripts/setup program
	scripts/build $(PRESET) -DPLEAT_TESTS=OFF -DPLEAT_BENCH=OFF -DPLEAT_PYTHON_MODULE=OFF
	scripts/demo build/$(PRESET)/apps/pleat/pleat

test:
	scripts/setup test
	scripts/build $(PRESET) -DPLEAT_TESTS=ON -DPLEAT_BENCH=ON -DPLEAT_PYTHON_MODULE=AUTO
	scripts/test build/$(PRESET)

test-faults:
	scripts/setup faults
	scripts/build $(PRESET) -DPLEAT_TESTS=ON
	PLEAT_PROGRAM=$(CURDIR)/build/$(PRESET)/apps/pleat/pleat python3 -B tests/faults/test_faults.py --trials 40
	PLEAT_PROGRAM=$(CURDIR)/build/$(PRESET)/apps/pleat/pleat python3 -B tests/faults/test_list_kills.py --kills 50

# What CI has time for: the files of SIMD kernels, and a program of few tests.
check-arm64:
	scripts/setup arm64
	cmake --preset arm64 -DPLEAT_TESTS=ON >build/arm64-sysroot/configured
	cmake --build build/arm64 --target test_arm64 $$(grep -rl foreach_target --include='*.cpp' src/pleat | \
	    sed -n '/\/tests\//!s|src/pleat/\(.*\)|src/pleat/CMakeFiles/pleat_code.dir/\1.o|p')
	scripts/test build/arm64 -R '^arm64\.'

test-arm64:
	scripts/setup arm64
	scripts/build arm64
	scripts/test build/arm64 -E WorkWhileOthersEndAndRemoveTheFolder  # qemu stops in forks from threads

test-mpi: PRESET = mpi
test-mpi:
	scripts/setup mpi
	scripts/build $(PRESET) -DPLEAT_MPI=ON -DPLEAT_TESTS=ON
	scripts/test build/$(PRESET) -R '^mpi\.'

test-strangers:
	scripts/setup python
	scripts/build $(PRESET) -DPLEAT_PYTHON_MODULE=ON
	PYTHONPATH=$(CURDIR)/build/$(PRESET)/python /usr/bin/python3 -B tests/strangers/sweep.py "$(FOLDER)"

docs:
	scripts/setup docs
	scripts/build $(PRESET) -DPLEAT_PYTHON_MODULE=ON
	scripts/build_docs

packages:
	scripts/setup packages
	scripts/packages

test-packages:
	python3 -B tests/packages/test_packages.py
