"""The command that installs an extra, with every file checked against its hash."""


def how_to_install(*extras: str) -> str:
    """Return it; it runs in a folder with `requirements/`: a clone, or the output of `make
    package`.
    """
    files = " ".join(f"-r requirements/{extra}.txt" for extra in extras)
    return f"pip install --require-hashes {files}"
