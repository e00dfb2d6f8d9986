"""``torchrun -m gsp_fb.nn``: see :mod:`gsp_fb.cli.torchrun`."""

import sys

from ..cli.torchrun import main

if __name__ == "__main__":
    sys.exit(main())
