"""The picture of the report for the README and the documentation: python -m tools.screenshots [FOLDER].

It shows the report of `standout demo`, whose people do not exist. FOLDER has a demo that was run before;
without it, the demo is run first. Needs Chromium. Look at the picture before you commit it.
`tools.explorer_pictures` takes the pictures of the explorer.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURE = Path(__file__).parents[1] / "docs/images/report.png"
WIDTH, HEIGHT, SCALE = 960, 930, 2


def main(folder: Path | None) -> None:
    """Run the demo if necessary, and take the picture of the first page of its report."""
    with tempfile.TemporaryDirectory() as made:
        if folder is None:
            folder = Path(made) / "demo"
            subprocess.run([sys.executable, "-m", "standout", "demo", "-o", str(folder)], check=True)
        take((folder / "report.html").resolve(), PICTURE)
    print(f"{PICTURE.name}: {PICTURE.stat().st_size / 1024:.0f} KB")


def take(page: Path, picture: Path) -> None:
    """Write a picture of the top of a page, at twice its size for sharp screens."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        screen = {"width": WIDTH, "height": HEIGHT}
        context = browser.new_context(viewport=screen, device_scale_factor=SCALE, color_scheme="light")
        sheet = context.new_page()
        sheet.goto(page.as_uri())
        picture.parent.mkdir(parents=True, exist_ok=True)
        sheet.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
