# Two commands for a fresh Debian 12: `make demo` runs the main job, `make test` runs every test.

PRESET ?= release

.PHONY: demo test

demo:
	scripts/setup program
	scripts/build $(PRESET) -DPLEAT_TESTS=OFF -DPLEAT_BENCH=OFF
	scripts/demo build/$(PRESET)

test:
	scripts/setup test
	scripts/build $(PRESET) -DPLEAT_TESTS=ON -DPLEAT_BENCH=ON
	scripts/test build/$(PRESET)
