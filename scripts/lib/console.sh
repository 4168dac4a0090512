# shellcheck shell=bash
# What the scripts say to people: one line per event, errors in one sentence, steps with their time.

console_started=$SECONDS
console_phases=()
# What the failed steps said, shown once more at the end, where people look first.
console_failures=()
console_ticker=""
# The outcome of the last run_step.
step_status=0

say() {
    printf '%s\n' "$*"
}

fail() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

elapsed_text() {
    printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

# Says every so often that a step is still running, so that a long build does not look dead. With a log file the line
# ends with the newest line of that log.
start_ticker() {
    local title=$1 log=${2:-} every=15
    [[ -n ${CI:-} ]] && every=60
    (
        # Waiting on a pipe that stays empty is a sleep without a process of its own, which could outlive the loop.
        exec {empty}<> <(:)
        # The parent may be killed without a chance to stop this loop.
        while ! read -r -t "$every" -u "$empty" && kill -0 "$$" 2>/dev/null; do
            local seconds=$((SECONDS - step_started)) newest=""
            [[ -n $log && -s $log ]] && newest=$(tail -c 400 "$log" | tr '\r' '\n' | grep -av '^[[:space:]]*$' | tail -n 1)
            printf '    ... %s, %s so far%s\n' "$title" "$(elapsed_text "$seconds")" "${newest:+: ${newest:0:90}}"
        done
    ) &
    console_ticker=$!
    # No word from the shell when it is killed.
    disown "$console_ticker"
}

stop_ticker() {
    [[ -n $console_ticker ]] || return 0
    kill "$console_ticker" 2>/dev/null || true
    console_ticker=""
}

# step <title> <log or ""> <command...>: runs the command as a named step, notes its time, and ends the script when it
# fails. With a log the output goes there, and its end is shown after a failure.
step() {
    run_step "$@"
    ((step_status == 0)) || exit "$step_status"
}

# The same, but leaves the outcome in step_status. Call neither of them in a condition: bash would then ignore every
# failing command inside.
run_step() {
    local title=$1 log=$2
    shift 2
    step_started=$SECONDS
    say "==> $title"
    start_ticker "$title" "$log"
    set +e
    if [[ -n $log ]]; then
        mkdir -p "$(dirname "$log")"
        (set -e && "$@") >"$log" 2>&1
    else
        (set -e && "$@")
    fi
    step_status=$?
    set -e
    stop_ticker
    note_phase "$title" $((SECONDS - step_started)) "$step_status"
    if ((step_status != 0)) && [[ -n $log ]]; then
        show_failure "$log"
        printf '%s failed; the whole output is in %s\n' "$title" "$log" >&2
        console_failures+=("$title failed:" "$(show_failure "$log" 2>&1 | head -n 12 | cut -c 1-300)")
    fi
}

# The lines that say what failed, or the end of the log when there are none.
show_failure() {
    local pattern='error:|✘|Fatal error|Crash|FAILED|failed:'
    if grep -qE "$pattern" "$1"; then
        grep -E "$pattern" "$1" | head -n 60 >&2
    else
        tail -n 40 "$1" >&2
    fi
}

note_phase() {
    local outcome=ok
    (($3 == 0)) || outcome=FAILED
    console_phases+=("$(printf '%-44s %8s  %s' "$1" "$(elapsed_text "$2")" "$outcome")")
}

print_failures() {
    ((${#console_failures[@]})) || return 0
    say ""
    printf '%s\n' "${console_failures[@]}"
}

print_phases() {
    ((${#console_phases[@]})) || return 0
    say ""
    printf '%-44s %8s\n' "phase" "min:sec"
    printf '%s\n' "${console_phases[@]}"
    printf '%-44s %8s\n' "total" "$(elapsed_text $((SECONDS - console_started)))"
    console_phases=()
}
