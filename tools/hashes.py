"""Write hashes.txt: the files that constraints.txt means on this machine, with their SHA-256.

pip does not check hashes in a constraints file together with an editable project: it then wants a hash of
the project too. So they are in a requirements file of their own, which `make setup HASHED=1` installs first.
They are those of this platform and version of Python, without addresses: each machine knows its own package
index.

    python -m tools.hashes
"""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEAD = """\
# The exact files that make setup HASHED=1 installs. Written by make hashes, for {platform},
# Python {python}. No addresses: each machine knows its own package index.
"""


def main() -> None:
    """Ask pip which files it would install, and write their names, versions and hashes."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    pins = ["--no-deps", "--only-binary", ":all:", "--report", "-", "-r", str(ROOT / "constraints.txt")]
    report = json.loads(subprocess.run([*command, *pins], check=True, capture_output=True, text=True).stdout)
    lines = sorted((_line(entry) for entry in report["install"]), key=str.lower)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    head = HEAD.format(platform=sysconfig.get_platform(), python=python)
    (ROOT / "hashes.txt").write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"wrote hashes.txt: {len(lines)} files")


def _line(entry: dict) -> str:
    digest = entry["download_info"]["archive_info"]["hashes"]["sha256"]
    return f"{entry['metadata']['name']}=={entry['metadata']['version']} --hash=sha256:{digest}"


if __name__ == "__main__":
    main()
