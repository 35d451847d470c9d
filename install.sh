#!/bin/sh
# Installs the Printreach service in an environment of its own: from a clone, or from the folder
# that `make package` makes. Run it again to update; data and settings stay.
set -eu

usage() {
    cat <<END
Installs the Printreach service.

  sh install.sh [--dir DIR] [--without-detector] [--with LIST] [--systemd]

  --dir DIR            where to install it (default $(default_folder))
  --without-detector   leave out what failure detection needs
  --with LIST          what else is needed, with commas between: agent, demo, nats, otel,
                       postgresql, s3, stripe
  --systemd            run it as a service of this machine; as root
END
}

say() { printf '%s\n' "$@"; }
fail() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

default_folder() {
    if [ "$(id -u)" = 0 ]; then
        say /opt/printreach
    else
        say "${XDG_DATA_HOME:-${HOME:-}/.local/share}/printreach"
    fi
}

# Print the name of a Python that is new enough.
find_python() {
    for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    fail "Python 3.11 or newer is needed: Debian 12 and Ubuntu 24.04 have it; or name one, PYTHON=/path/to/python3 sh install.sh"
}

# Print the folder with a wheel of the service and the lists of its libraries. A clone builds one.
find_package() {
    here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
    if [ -f "$here/pyproject.toml" ]; then
        command -v make >/dev/null 2>&1 || fail "make is needed to build it: apt-get install make"
        make -C "$here" --no-print-directory wheel "PYTHON=$python" >&2 ||
            fail "The package could not be built; make says why above."
        here=$here/build/wheel
    fi
    ls "$here"/printreach-*.whl >/dev/null 2>&1 || fail "No wheel of Printreach is in $here."
    say "$here"
}

pip() {
    "$folder/bin/python" -m pip --disable-pip-version-check --no-input --quiet "$@"
}

add_command() {
    if [ "$(id -u)" = 0 ]; then
        commands=/usr/local/bin
    else
        commands=$HOME/.local/bin
    fi
    mkdir -p "$commands" 2>/dev/null || return 0
    if [ ! -e "$commands/printreach" ] && [ ! -L "$commands/printreach" ]; then
        ln -s "$folder/bin/printreach" "$commands/printreach" 2>/dev/null || return 0
    fi
}

# Print the command that people type: its name alone where that is found.
command_name() {
    found=$(command -v printreach || :)
    if [ "$(readlink "$found" 2>/dev/null)" = "$folder/bin/printreach" ]; then
        say printreach
    else
        say "$folder/bin/printreach"
    fi
}

run_by_systemd() {
    [ -d /run/systemd/system ] || fail "systemd doesn't run this machine; start it with: $(command_name) serve"
    id printreach >/dev/null 2>&1 ||
        useradd --system --home-dir /var/lib/printreach --shell /usr/sbin/nologin printreach
    mkdir -p /etc/printreach
    if [ ! -e /etc/printreach/service.env ]; then
        (umask 077 && cat >/etc/printreach/service.env) <<END
PRINTREACH_DATA_DIR=/var/lib/printreach
# How people reach it; README, "A server with a name", says what belongs here:
#PRINTREACH_BASE_URL=https://printreach.example.com
#PRINTREACH_TUNNEL_DOMAIN=printers.example.net
#PRINTREACH_TRUSTED_PROXIES=127.0.0.1/32
END
    fi
    for unit in printreach.service printreach.socket printreach-backup.service printreach-backup.timer; do
        sed "s|/opt/printreach/|$folder/|" "$units/$unit" >"/etc/systemd/system/$unit"
    done
    systemctl daemon-reload
    systemctl enable printreach.socket printreach.service
    systemctl restart printreach.socket printreach.service
    say "It runs. Its settings are in /etc/printreach/service.env; after a change:" \
        "systemctl restart printreach" "" \
        "The link by which you make the first account:" \
        "    journalctl -u printreach | grep http" "" \
        "A backup each night, in /var/lib/printreach-backups:" \
        "    systemctl enable --now printreach-backup.timer"
}

main() {
    folder=''
    lists='server detector'
    more=''
    systemd=no
    while [ $# -gt 0 ]; do
        case $1 in
        --dir | --with)
            [ $# -gt 1 ] || fail "$1 needs a word behind it."
            if [ "$1" = --dir ]; then folder=$2; else more="$more $2"; fi
            shift
            ;;
        --without-detector) lists=server ;;
        --systemd) systemd=yes ;;
        --help | -h)
            usage
            exit 0
            ;;
        *) fail "$1 is no option of it; --help tells those there are." ;;
        esac
        shift
    done
    for list in $(printf '%s' "$more" | tr ',' ' '); do
        case $list in
        agent | demo | nats | otel | postgresql | s3 | stripe) lists="$lists $list" ;;
        *) fail "--with knows agent, demo, nats, otel, postgresql, s3 and stripe, with commas between; $list is none of them." ;;
        esac
    done
    [ -n "$folder" ] || [ -n "${HOME:-}" ] || fail "HOME is not set: name a folder with --dir."
    [ -n "$folder" ] || folder=$(default_folder)
    case $folder in
    /*) ;;
    *) folder=$(pwd)/$folder ;;
    esac
    case $folder in
    *[!A-Za-z0-9/._+-]*) fail "The folder $folder has characters that unit files read otherwise: name another with --dir." ;;
    esac
    [ "$systemd" = no ] || [ "$(id -u)" = 0 ] || fail "--systemd writes into /etc: run it as root."

    python=$(find_python)
    "$python" -c 'import ensurepip, ssl, venv' 2>/dev/null ||
        fail "Python's venv module is missing: apt-get install python3-venv"
    unset PYTHONPATH PYTHONHOME
    if [ -e "$folder" ] && [ ! -e "$folder/pyvenv.cfg" ] && [ -n "$(ls -A "$folder" 2>/dev/null)" ]; then
        fail "The folder $folder holds something else: name another with --dir."
    fi

    package=$(find_package)
    units=$package/systemd
    say "Installing it in $folder"
    if ! "$folder/bin/python" -m pip --version >/dev/null 2>&1; then
        "$python" -m venv --clear "$folder" || fail "An environment could not be made in $folder."
    fi
    for list in $lists; do
        [ -f "$package/requirements/$list.txt" ] || fail "There is no list of libraries called $list."
        pip install --require-hashes -r "$package/requirements/$list.txt" ||
            fail "The libraries could not be installed; pip says why above."
    done
    pip install --no-deps --no-index --force-reinstall --find-links "$package" printreach ||
        fail "Printreach could not be installed; pip says why above."
    add_command
    if [ "$systemd" = yes ]; then
        run_by_systemd
    else
        say "Installed. Run it with:" "" "    $(command_name) serve" "" \
            "It is then at http://localhost:8080, and writes a link to its log by which you make the" \
            "first account. README.md tells the settings."
    fi
}

main "$@"
