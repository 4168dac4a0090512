# shellcheck shell=bash
# All keys and tokens are replaced while load goes on, in the order of deploy/runbooks/KeyRotation.md: every service is
# rolled with the old values in front, then with the new ones in front, then with the new ones alone. Needs compose.sh
# and what scripts/compose-test has set.
# shellcheck disable=SC2154

keys_step() {
    "$python" -B "$tests/keys.py" "$1" "$environment" "$work/keys" "${@:2}"
}

# with_settings <both|new|only>: the settings of this step in every service, one after the other.
with_settings() {
    local line service
    keys_step "$1" >"$work/keys/settings"
    # Not split by read, which would take the "=" at the end of a value away.
    while IFS= read -r line; do set_compose_setting "${line%%=*}" "${line#*=}"; done <"$work/keys/settings"
    for service in "${composed[@]}"; do
        roll "$service" "$(compose_setting "${service^^}_TAG")"
    done
    say "every service has its settings: $1"
}

roll_keys_under_load() {
    local report=$work/load-keys.json
    (umask 077 && mkdir -p "$work/keys")
    keys_step make
    start_process "$work/load.pid" "$logs/load-keys.log" "$python" -B "$tests/keys_load.py" \
        "$environment" "$work/people.json" "$report" "$work/keys/outside.json" "$rate"
    sleep "$around"
    with_settings both
    keys_step outside
    with_settings new
    keys_step settled
    keys_step retired
    with_settings only
    sleep "$around"
    stop_process "$work/load.pid" TERM 60
    keys_step gone "$report" "$needed_rate"
}
