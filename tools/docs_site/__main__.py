"""Builds the documentation site: python -m tools.docs_site."""

import os
import subprocess
import sys

from tools.docs_site.other_hosts import other_hosts
from tools.docs_site.pages import ROOT, SITE, stage


def main() -> None:
    """Write the source, build the site, and check that it needs no other host."""
    stage()
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(ROOT / "mkdocs.yml")]
    if code := subprocess.run(command, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}).returncode:
        raise SystemExit(code)
    if found := other_hosts(SITE):
        raise SystemExit("these pages load something from another host:\n" + "\n".join(found))
    print(f"wrote {SITE.relative_to(ROOT)}: {sum(1 for _ in SITE.rglob('*.html'))} pages")


if __name__ == "__main__":
    main()
