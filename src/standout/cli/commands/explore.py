"""`standout explore`: play the adversary in a browser."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from standout.cli import options
from standout.cli.console import print_json, print_line
from standout.cli.options import option
from standout.cli.reading import Source, data_command
from standout.core.errors import ParameterError, install_command
from standout.core.progress import progress_bar as progress
from standout.ingest.sources import public_url

if TYPE_CHECKING:
    from standout.core.progress import Progress
    from standout.data.release import Release

NO_SIDECAR = (
    "standout: warning: {} has no sidecar of `standout sanitize`. The attacks assume that nothing was "
    "changed, so it can look safer than it is."
)
OFF_LOOPBACK = (
    "standout: warning: --host {}: everybody who can reach this machine and has the address can see the "
    "data. The connection is not encrypted."
)
PORT = click.IntRange(1, 65535)


@data_command
@option("--what-if what_if", "DATA2", "Another version of DATA: an output of `standout sanitize`, or an index.")
@option("--key", "FILE", "Key file of --what-if, which `standout sanitize --key` wrote. Needed if its ids are new.")
@option("--audit audit_folder", "FOLDER", "Folder that `standout audit` wrote about DATA, to show on a page.")
@option("--host", "HOST", "Address to listen at.", options.SERVER, default="127.0.0.1")
@option("--port", "N", "Port to listen at.", options.SERVER, type=PORT, show_default="8421, or a free one")
@option("--no-browser", "", "Print the address only, and open no browser.", options.SERVER)
def explore(
    data: str,
    what_if: str | None,
    key: Path | None,
    audit_folder: Path | None,
    host: str,
    port: int | None,
    no_browser: bool,
    source: Source,
    as_json: bool,
) -> None:
    """Play the adversary in a browser: type facts, see who fits.

    DATA is an index, or any source that `standout index` reads. The command opens a
    local web page and prints its address, which contains a secret token. Ctrl-C stops
    it. Nothing is stored, and nothing is loaded from elsewhere.

    Each fact typed on the page shrinks the crowd of records. The page can also deal
    facts about somebody drawn at random, and compare the data with a sanitized
    version. It needs Starlette and Uvicorn (docs/install.md), and is for histories:
    for a table, use `standout lineup --table`.

    \b
    Example:
      standout explore ratings.csv
      standout explore ratings.index --what-if safer.csv --key key.csv
      standout explore ratings.index --audit ratings-audit --no-browser
    """
    if key is not None and what_if is None:
        raise ParameterError("--key needs --what-if, the data that it belongs to")
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        needs = f"the explorer needs Starlette and Uvicorn: {install_command('explore')}"
        raise ParameterError(needs) from error
    from standout.explore.app import create_app, read_audit
    from standout.explore.exploration import Exploration
    from standout.explore.server import Site, end_process_if_busy, is_loopback, listen, open_browser, serve
    from standout.know.sanitized import Sanitized

    listener = click.get_current_context().with_resource(listen(host, port))
    with progress() as report:
        release = source.read([data], report, purpose="the explorer")
        other = None if what_if is None else _read_other(what_if, key, release, source, report)
        audit = None if audit_folder is None else read_audit(audit_folder, release)
    exploration = Exploration(
        release,
        public_url(data),
        source.arguments(),
        name=Path(public_url(data)).name,
        has_audit=audit is not None,
        what_if=other,
        what_if_name="" if what_if is None else Path(public_url(what_if)).name,
    )
    if other is not None and not isinstance(other, Sanitized):
        print_line(NO_SIDECAR.format(exploration.what_if_name), err=True)
    if not is_loopback(host):
        print_line(OFF_LOOPBACK.format(host), err=True)
    site = Site(host, listener.getsockname()[1])

    def on_start() -> None:
        if as_json:
            print_json({"address": site.address})
        else:
            print_line(f"Explore {exploration.name} at {site.address}", "Press Ctrl-C to stop.")
        if not no_browser:
            open_browser(site.launch_address())

    serve(create_app(exploration, site, audit), listener, on_start)
    end_process_if_busy()


def _read_other(what_if: str, key: Path | None, release: "Release", source: Source, report: "Progress") -> "Release":
    """Open the other version: with its original if it is an output of sanitize, else as DATA is read."""
    from standout.data.store import is_index, open_index
    from standout.know.sanitized import sidecar_path
    from standout.sanitizing.files import open_sanitized

    path = Path(what_if)
    if sidecar_path(path).is_file():
        return open_sanitized(path, release, key, report)
    if key is not None:
        raise ParameterError(f"--key: {path.name} is not an output of standout sanitize with its sidecar")
    if is_index(path):
        return open_index(path).check()
    return source.read([what_if], report, purpose="the explorer")
