"""The command that installs what an extra needs, with every file checked against its hash."""


def how_to_install(*extras: str) -> str:
    """To be run where `requirements/` is: in a clone, and beside the wheel of `make package`."""
    files = " ".join(f"-r requirements/{extra}.txt" for extra in extras)
    return f"pip install --require-hashes {files}"
