# Commands for a fresh Debian 12: `make demo` runs every engine, `make test` every test, `make test-mpi`
# those of several ranks, `make docs` the documentation's site.

PRESET ?= release

.PHONY: demo docs test test-mpi

demo:
	scripts/setup program
	scripts/build $(PRESET) -DPLEAT_TESTS=OFF -DPLEAT_BENCH=OFF
	scripts/demo build/$(PRESET)

test:
	scripts/setup test
	scripts/build $(PRESET) -DPLEAT_TESTS=ON -DPLEAT_BENCH=ON
	scripts/test build/$(PRESET)

test-mpi: PRESET = mpi
test-mpi:
	scripts/setup mpi
	scripts/build $(PRESET) -DPLEAT_MPI=ON -DPLEAT_TESTS=ON
	scripts/test build/$(PRESET) -R '^mpi\.'

docs:
	scripts/setup docs
	scripts/build_docs
