# shellcheck shell=bash
# The suite of the folder $run, which `transfactl dev` prepares, starts and stops (Shared/DevSuite). Needs processes.sh;
# the caller sets $run and $binaries, the folder with the executables.
# shellcheck disable=SC2154

# dev <verb> <arguments...>
dev() {
    # A build that measures its coverage would write into the folder that it was started from.
    LLVM_PROFILE_FILE=${LLVM_PROFILE_FILE:-/dev/null} "$binaries/transfactl" dev "$1" --folder "$run" "${@:2}"
}

# prepare_test_suite <arguments...>: dev prepare, with the gateway at a port of this suite alone. The ports that people type
# are few, and suites that are prepared side by side would all be given the first of them, until one listens there.
prepare_test_suite() {
    free_port "$run/ports/gateway" >/dev/null
    dev prepare "$@"
}

# set_gateway <NAME=value...>: settings of the gateway of a suite that is prepared and does not run yet.
set_gateway() {
    python3 - "$run/suite.json" "$@" <<'PYTHON'
import json
import pathlib
import sys

file, settings = pathlib.Path(sys.argv[1]), dict(word.split("=", 1) for word in sys.argv[2:])
suite = json.loads(file.read_text())
next(part for part in suite["parts"] if part["name"] == "gateway")["settings"].update(settings)
file.write_text(json.dumps(suite))
PYTHON
}

# Also when the executables are gone: what is recorded can be ended without them.
stop_suite() {
    local record
    if [[ -s $run/suite.json && -x ${binaries:-}/transfactl ]] && dev down; then
        # In a trap the number is needed: without it, it would be the one that the trap began with.
        return 0
    fi
    for record in "$run"/pids/*; do
        [[ ! -f $record ]] || stop_process "$record" TERM 15 &
    done
    wait
}

# The services of the suite: each has a database.
suite_services() {
    basename -a -s .env "$run"/databases/*.env
}

# with_environment <env file> <command...>: runs a command with these variables and PATH and HOME only. The process
# that is started becomes the command.
with_environment() {
    # shellcheck disable=SC2016
    env -i PATH="$PATH" HOME="${HOME:-/}" bash -c 'set -a; source "$1"; set +a; shift; exec "$@"' with_environment "$@"
}
