"""Draws charts for `standout.report.drawing`, as a program of its own that imports nothing of Standout.

Reads a chart in each line (JSON: format, spec, options), and answers with a byte (1: drawn, 0: not), the
length in eight bytes, and the picture or the name of the error.
"""

import json
import sys
from typing import Any


def main(folder: str) -> None:
    """Answer until the input ends. `folder` is where vl-convert is installed."""
    sys.path.append(folder)
    import vl_convert

    draw: dict[str, Any] = {"svg": vl_convert.vegalite_to_svg, "png": vl_convert.vegalite_to_png}
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            picture = draw[request["format"]](request["spec"], **request["options"])
            drawn, content = b"\1", picture.encode() if isinstance(picture, str) else bytes(picture)
        except Exception as error:
            drawn, content = b"\0", type(error).__name__.encode()
        sys.stdout.buffer.write(drawn + len(content).to_bytes(8, "big") + content)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1])
