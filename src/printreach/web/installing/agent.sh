# Installs the Printreach agent in an environment of its own, or updates it. The service puts its
# address and the digests of what it hands out above these lines.
#
# All of it is one group of commands, so a shell that got a part of the script does nothing.
{
set -eu

usage() {
    cat <<END
Installs the Printreach agent, which connects a 3D printer to $SERVICE.

    curl -fsSL $SERVICE/install/agent | sh
    curl -fsSL $SERVICE/install/agent | sh -s -- --platform moonraker

  --dir DIR              where to install it (default $(default_folder))
  --platform KIND        octoprint, moonraker, bambu, prusalink, elegoo, duet or simulated;
                         without it, this machine is searched
  --printer-url URL      the printer's address
  --help                 this text

Every other option is one of "printreach agent run". Running it again updates the agent, which keeps
its link and its options.
END
}

say() { printf '%s\n' "$*"; }
fail() {
    printf 'Printreach: %s\n' "$*" >&2
    exit 1
}

default_folder() {
    if [ "$(id -u)" = 0 ]; then
        say /opt/printreach-agent
    else
        say "${XDG_DATA_HOME:-${HOME:-}/.local/share}/printreach-agent"
    fi
}

# Print the name of a Python that is new enough.
find_python() {
    for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            say "$candidate"
            return
        fi
    done
    if command -v python3 >/dev/null 2>&1; then
        fail "Python 3.11 or newer is needed, and this machine has $(python3 --version 2>&1)." \
            "Raspberry Pi OS 12, Debian 12 and Ubuntu 24.04 have it."
    fi
    fail "Python 3.11 or newer is needed, and this machine has none: sudo apt-get install python3 python3-venv"
}

# Print the folder of another agent that has the data of one in $folder; nothing if there is none.
owner_of_data() {
    name=${folder##*/}
    case $name in
    printreach-agent*) ;;
    *) name=printreach-agent-$name ;;
    esac
    owner=$(cat "/var/lib/$name/installation" 2>/dev/null || :)
    if [ "$owner" != "$folder" ] && [ -e "$owner/.printreach-agent" ]; then say "$owner"; fi
}

# Get $1 of the service into the file $2, and check that its digest is $3.
fetch() {
    "$python" -I -c '
import hashlib, sys, urllib.request
url, path, wanted = sys.argv[1:]
try:
    with urllib.request.urlopen(url, timeout=60) as answer:
        content = answer.read(64 << 20)
except (OSError, ValueError) as error:
    sys.exit(f"Printreach: {url} could not be downloaded: {error}.")
except Exception as error:
    sys.exit(f"Printreach: the download of {url} broke off: {error!r}.")
if hashlib.sha256(content).hexdigest() != wanted:
    sys.exit(
        f"Printreach: what {url} sent is not what this script names, so nothing was installed."
        " If the service was just updated, run the command again."
    )
with open(path, "wb") as file:
    file.write(content)
' "$SERVICE/install/$1" "$2" "$3" </dev/null || exit 1
}

pip() {
    "$folder/venv/bin/python" -m pip --disable-pip-version-check --no-input --quiet "$@" </dev/null
}

main() {
    folder=''
    platform=''
    left=$#
    while [ "$left" -gt 0 ]; do
        case $1 in
        --help | -h)
            usage
            exit 0
            ;;
        --dir)
            [ "$left" -gt 1 ] || fail "--dir needs the name of a folder."
            folder=$2
            shift 2
            left=$((left - 2))
            continue
            ;;
        --dir=*)
            folder=${1#--dir=}
            shift
            left=$((left - 1))
            continue
            ;;
        --platform=*) platform=${1#--platform=} ;;
        --platform) [ "$left" -lt 2 ] || platform=$2 ;;
        esac
        set -- "$@" "$1"
        shift
        left=$((left - 1))
    done
    if [ -z "$folder" ]; then
        [ "$(id -u)" = 0 ] || [ -n "${XDG_DATA_HOME:-${HOME:-}}" ] ||
            fail "HOME is not set: name a folder with --dir."
        folder=$(default_folder)
    fi
    case $folder in
    /*) ;;
    *) folder=$(pwd)/$folder ;;
    esac
    while [ "$folder" != "${folder%/}" ]; do folder=${folder%/}; done
    case $folder in
    *[!A-Za-z0-9/._+-]*)
        fail "The folder $folder has characters that unit files read otherwise: name another with --dir."
        ;;
    esac

    python=$(find_python)
    "$python" -c 'import ensurepip, ssl, venv' 2>/dev/null ||
        fail "Python's venv module is missing. Install it, then run this again: sudo apt-get install python3-venv"
    unset PYTHONPATH PYTHONHOME

    if [ "$(id -u)" = 0 ]; then umask 022; else umask 077; fi
    if [ -e "$folder" ] && [ ! -e "$folder/.printreach-agent" ] && [ -n "$(ls -A "$folder" 2>/dev/null)" ]; then
        fail "The folder $folder holds something else: name another with --dir."
    fi
    if [ "$(id -u)" = 0 ]; then
        owner=$(owner_of_data)
        [ -z "$owner" ] || fail "The agent in $owner has that name: choose a --dir that ends in another one."
    fi
    mkdir -p "$folder" 2>/dev/null || fail "The folder $folder can't be made: name another with --dir."
    touch "$folder/.printreach-agent" 2>/dev/null || fail "The folder $folder can't be written to."
    downloads=$folder/downloads
    rm -rf "$downloads"
    mkdir "$downloads"
    trap 'rm -rf "$downloads"' EXIT
    trap 'exit 130' HUP INT TERM

    say "Getting the agent from $SERVICE"
    fetch requirements-agent.txt "$downloads/agent.txt" "$AGENT_LIST_SHA256"
    fetch "$WHEEL" "$downloads/$WHEEL" "$WHEEL_SHA256"
    [ -n "$platform" ] || platform=$(sed -n 's/^--platform=//p' "$folder/options" 2>/dev/null || :)
    if [ "$platform" = simulated ]; then
        fetch requirements-demo.txt "$downloads/demo.txt" "$DEMO_LIST_SHA256"
    fi

    say "Installing it in $folder"
    if ! "$folder/venv/bin/python" -m pip --version >/dev/null 2>&1; then
        "$python" -m venv --clear "$folder/venv" </dev/null ||
            fail "An environment could not be made in $folder/venv; Python says why above."
    fi
    for list in "$downloads"/*.txt; do
        pip install --require-hashes -r "$list" ||
            fail "The agent's libraries could not be installed; pip says why above."
    done
    pip install --no-deps --no-index --force-reinstall "$downloads/$WHEEL" ||
        fail "The agent could not be installed; pip says why above."
    rm -rf "$downloads"

    # Questions are asked at the terminal: standard input is this script.
    if (: </dev/tty) 2>/dev/null; then
        "$folder/venv/bin/printreach" agent setup --dir "$folder" --service "$SERVICE" "$@" </dev/tty
    else
        "$folder/venv/bin/printreach" agent setup --dir "$folder" --service "$SERVICE" "$@" </dev/null
    fi
}

main "$@"
exit
}
