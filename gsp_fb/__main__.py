"""``python -m gsp_fb`` is ``gsp-fb``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
