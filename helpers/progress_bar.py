"""One progress bar for everything in the course that takes more than a second."""

import os

from tqdm.auto import tqdm


def progress_bar(items, description):
    """Go through some items with a progress bar, which disappears at the end.

    items: a sequence. description: what stands beside the bar. Without a bar where TQDM_DISABLE is set, as in tests:
    `tqdm.auto`'s bar for notebooks does not ask for it by itself.
    """
    return tqdm(items, desc=description, leave=False, disable=os.environ.get("TQDM_DISABLE", "0") not in ("", "0"))
