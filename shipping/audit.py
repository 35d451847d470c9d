"""python -m shipping.audit TITLE COMMAND...: run an auditor of pinned libraries.

The auditor prints JSON: pip-audit's, or npm's. Where it could reach no database of advisories it
prints none, an error, or that it skipped every library. That is said
plainly and is no failure, unless AUDIT_REQUIRED=1.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Final

PATIENCE_S: Final = 300.0


def found_in(output: str) -> list[str] | None:
    """What has a known weakness, by name; None where the output says nothing of any."""
    try:
        said: Any = json.loads(output)
    except ValueError:
        return None
    if not isinstance(said, dict) or "error" in said:
        return None
    if "dependencies" in said:  # pip-audit
        if all("skip_reason" in one for one in said["dependencies"]):
            return None
        weak = [one for one in said["dependencies"] if one.get("vulns")]
        return [
            f"{one['name']} {one['version']}: {', '.join(each['id'] for each in one['vulns'])}"
            for one in weak
        ]
    if "vulnerabilities" in said:  # npm
        return [f"{name}: {one['severity']}" for name, one in said["vulnerabilities"].items()]
    return None


def audit(title: str, command: Sequence[str], *, is_required: bool) -> int:
    """The exit status: 1 where something was found, or nothing could be asked and has to be."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE_S
        )
        found, why = found_in(done.stdout), done.stderr.strip().splitlines()[-1:]
    except (OSError, subprocess.TimeoutExpired) as error:
        found, why = None, [str(error)]
    if found is None:
        print(f"{title}: no advisory database could be had, so nothing was looked up.", *why)
        return int(is_required)
    print(f"{title}: {len(found)} with known weaknesses", *found, sep="\n  ")
    return int(bool(found))


if __name__ == "__main__":
    required = os.environ.get("AUDIT_REQUIRED") == "1"
    sys.exit(audit(sys.argv[1], sys.argv[2:], is_required=required))
