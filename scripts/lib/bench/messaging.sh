# shellcheck shell=bash
# Parts d and e: events consumed and relayed, by a program of their own that prints measurements as JSON lines. Needs
# $root, $run, $repeats and $binaries.
# shellcheck disable=SC2154

# messaging_part <d|e>
messaging_part() {
    (
        set -a
        # shellcheck source=/dev/null
        source "$run/servers/servers.env"
        PARTS=$1 REPEATS=$repeats TRANSFA_BENCH_BINARIES=$binaries "$root/scripts/lib/bench/messaging/run"
    )
}

part_d() { messaging_part d; }
part_e() { messaging_part e; }
