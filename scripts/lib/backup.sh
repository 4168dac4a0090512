# shellcheck shell=bash
# The folder of a backup of one Postgres server, and whether what stands in it can be restored. Needs console.sh and
# postgres.sh.
#
# <folder>/server        whose it is: system identifier, timeline, bytes of a WAL segment
# <folder>/base/<time>/  a base copy: data, with its manifest, and ended, the server's clock when it was whole
# <folder>/wal/          what the receiver writes
# <folder>/erased        users who must stay erased, one id per line
# <folder>/images/       the pictures
#
# What is being made has a name that ends in .partial and counts for nothing.

# hide_password <url>: prints the URL without its password, which libpq takes from PGPASSWORD: arguments of programs can
# be read by everybody on the machine.
hide_password() {
    sed -E 's|^([a-z]+://[^:/@]*):[^@]*@|\1@|' <<<"$1"
}

password_of() {
    local password
    [[ $1 =~ ^[a-z]+://[^:/@]*:([^@]*)@ ]] || return 0
    password=${BASH_REMATCH[1]}
    printf '%b' "${password//%/\\x}"
}

# The three words of <folder>/server.
backup_system() { cut -d ' ' -f 1 "$1/server"; }
backup_timeline() { cut -d ' ' -f 2 "$1/server"; }
segment_size() { cut -d ' ' -f 3 "$1/server"; }

must_be_backup() {
    [[ -s $1/server && -d $1/wal ]] || fail "$1 is no backup: scripts/backup makes one"
}

# The whole base copies, oldest first.
base_copies() {
    find "$1/base" -mindepth 1 -maxdepth 1 -type d -regextype posix-extended -regex '.*/[0-9]{8}T[0-9]{6}Z' \
        -printf '%f\n' 2>/dev/null | sort
}

# base_fact <copy's folder> <segment|start|end>: the segment and the position at which a restore begins to read WAL, and
# the position from which on the copy is consistent.
base_fact() {
    case $2 in
        segment) sed -n 's/^START WAL LOCATION: .* (file \([0-9A-F]*\))$/\1/p' "$1/data/backup_label" ;;
        start) sed -n 's/^START WAL LOCATION: \([^ ]*\) .*/\1/p' "$1/data/backup_label" ;;
        end) sed -n 's/.*"End-LSN": "\([^"]*\)".*/\1/p' "$1/data/backup_manifest" ;;
    esac
}

# Positions and segments

# lsn_number <16/B374D848>
lsn_number() {
    printf '%d' $(((16#${1%/*} << 32) + 16#${1#*/}))
}

# segment_number <name> <size>: how many segments there are before it.
segment_number() {
    printf '%d' $((16#${1:8:8} * (4294967296 / $2) + 16#${1:16:8}))
}

# segment_name <timeline> <number> <size>
segment_name() {
    local each=$((4294967296 / $3))
    printf '%08X%08X%08X' "$1" $(($2 / each)) $(($2 % each))
}

# wal_files <folder> <first segment>: the names of the files with WAL from that segment on, in order, each segment once.
wal_files() {
    local file previous=""
    find "$1/wal" -maxdepth 1 -type f -regextype posix-extended -regex '.*/[0-9A-F]{24}(\.partial)?' -printf '%f\n' \
        | LC_ALL=C sort | while read -r file; do
        [[ ${file%.partial} < $2 || ${file%.partial} == "$previous" ]] || printf '%s\n' "$file"
        previous=${file%.partial}
    done
}

# stage_wal <folder> <first segment> <into>: the segments under their names, each of full size, and a blank one behind
# the newest; one sentence about what is missing or short. The newest is as long as it was received: what is missing at
# its end is zeros, as in a segment that is not written to its end.
stage_wal() {
    local folder=$1 first=$2 into=$3 size timeline wanted file files bytes
    size=$(segment_size "$folder")
    timeline=$((16#${first:0:8}))
    wanted=$(segment_number "$first" "$size")
    mapfile -t files < <(wal_files "$folder" "$first")
    ((${#files[@]})) || fail "there is no WAL from $first on: has the receiver run?"
    [[ ${files[-1]:0:8} == "${first:0:8}" ]] \
        || fail "${files[-1]} is of another timeline: the server was promoted; begin a new folder with a base copy"
    for file in "${files[@]}"; do
        [[ ${file%.partial} == "$(segment_name "$timeline" "$wanted" "$size")" ]] \
            || fail "segment $(segment_name "$timeline" "$wanted" "$size") is missing"
        # The receiver may have ended the segment since.
        if [[ $file == "${files[-1]}" ]]; then
            cp "$folder/wal/$file" "$into/${file%.partial}" 2>/dev/null \
                || cp "$folder/wal/${file%.partial}" "$into/${file%.partial}" || fail "$file cannot be read"
            truncate --size=">$size" "$into/${file%.partial}" || fail "$file cannot be looked at"
        else
            [[ $file != *.partial ]] || fail "$file is not whole and is not the newest"
            ln "$folder/wal/$file" "$into/$file" || fail "$file cannot be looked at"
        fi
        bytes=$(stat --format=%s "$into/${file%.partial}")
        ((bytes == size)) || fail "segment $file has $bytes bytes and not $size"
        wanted=$((wanted + 1))
    done
    truncate --size="$size" "$into/$(segment_name "$timeline" "$wanted" "$size")" || fail "$into cannot be written"
}

# Reading it

# read_wal <folder> <base copy>: reads all WAL since the copy, record by record. Sets wal_end, the position of the last
# record, and wal_newest, the time of the newest commit. WAL may end in the middle of a record; when something follows
# behind that record, it does not end there, but is damaged.
read_wal() {
    local folder=$1 copy=$2 staged first timeline segments
    first=$(base_fact "$copy" segment)
    timeline=$((16#${first:0:8}))
    staged=$(mktemp -d "$folder/.check.XXXXXX")
    # shellcheck disable=SC2064
    trap "rm -rf '$staged'" RETURN
    # A subshell, so that its sentence ends this function and not the caller before it has tidied.
    (stage_wal "$folder" "$first" "$staged") || return 1
    mapfile -t segments < <(find "$staged" -type f -printf '%f\n' | LC_ALL=C sort)
    TZ=UTC "$(postgres_binaries)/pg_waldump" --path="$staged" --timeline="$timeline" --rmgr=Transaction \
        --start="$(base_fact "$copy" start)" "$first" "${segments[-1]}" >"$staged/commits" 2>"$staged/end" || true
    # shellcheck disable=SC2034
    wal_newest=$(sed -n 's/.*desc: COMMIT \([0-9-]* [0-9:.]* UTC\).*/\1/p' "$staged/commits" | tail -n 1)
    wal_end=$(sed -n 's|.*error in WAL record at \([0-9A-F]*/[0-9A-F]*\): .*|\1|p' "$staged/end")
    if [[ -z $wal_end ]]; then
        say "error: the WAL cannot be read: $(head -n 1 "$staged/end")" >&2
        return 1
    fi
    if ! wal_ends_there "$folder" "$staged"; then
        say "error: the WAL is damaged behind $wal_end: $(head -n 1 "$staged/end")" >&2
        return 1
    fi
}

# Whether nothing is behind the record that could not be read.
wal_ends_there() {
    local folder=$1 staged=$2 size said place length=0 segment offset file
    size=$(segment_size "$folder")
    said=$(head -n 1 "$staged/end")
    if [[ $said =~ in\ log\ segment\ ([0-9A-F]{24}),\ offset\ ([0-9]+) ]]; then
        place=$(($(segment_number "${BASH_REMATCH[1]}" "$size") * size + BASH_REMATCH[2]))
    elif [[ $said =~ .*\ at\ ([0-9A-F]+/[0-9A-F]+) ]]; then
        place=$(lsn_number "${BASH_REMATCH[1]}")
        file=$(segment_name "$(backup_timeline "$folder")" $((place / size)) "$size")
        length=$(od -An -tu4 -j $((place % size)) -N 4 "$staged/$file" | tr -d ' ')
    else
        return 1
    fi
    # Page headers stand between the parts of a record.
    place=$((place + length + length / 100 + 8192))
    for file in "$staged"/*; do
        [[ ${file##*/} =~ ^[0-9A-F]{24}$ ]] || continue
        segment=$(($(segment_number "${file##*/}" "$size") * size))
        ((segment + size > place)) || continue
        offset=$((place > segment ? place - segment : 0))
        (($(tail -c +$((offset + 1)) "$file" | tr -d '\0' | wc -c) == 0)) || return 1
    done
}

# check_base <folder> <name>: whether that copy can be restored to the newest moment; otherwise one sentence and 1.
check_base() {
    local folder=$1 copy=$1/base/$2 said
    if [[ ! -s $copy/ended ]]; then
        say "error: base copy $2 does not say when it ended" >&2
        return 1
    fi
    if ! said=$("$(postgres_binaries)/pg_verifybackup" --quiet "$copy/data" 2>&1); then
        say "error: base copy $2 is damaged: $(head -n 1 <<<"$said")" >&2
        return 1
    fi
    read_wal "$folder" "$copy" || return 1
    if (($(lsn_number "$wal_end") < $(lsn_number "$(base_fact "$copy" end)"))); then
        say "error: the WAL of base copy $2 ends before the copy does" >&2
        return 1
    fi
}
