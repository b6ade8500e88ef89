# Every target is one script, so that all of it works without make too.
# More arguments for pytest: make test ARGS="tests/house -x"
.PHONY: run test full setup lint format bench faults hostile field soak lock clean web screenshots

run: ; @scripts/run.sh
test: ; @scripts/test.sh $(ARGS)
full: ; @scripts/full.sh $(ARGS)
setup: ; @scripts/setup.sh test
lint: ; @scripts/lint.sh
format: ; @scripts/format.sh
bench: ; @scripts/bench.sh
faults: ; @scripts/faults.sh $(ARGS)
hostile: ; @scripts/hostile.sh $(ARGS)
field: ; @scripts/field.sh $(ARGS)
soak: ; @scripts/soak.sh
lock: ; @scripts/lock.sh
clean: ; @scripts/clean.sh
web: ; @scripts/web.sh
screenshots: ; @scripts/screenshots.sh
