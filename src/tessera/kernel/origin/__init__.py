"""Where the kernel's source comes from: the order of sources, and what each of them gives.

If one source is gone, the next one is asked; another version never takes the place of the recorded one
unseen. ``order`` asks one origin after the other. ``fetch`` downloads and unpacks Debian's package.
``record`` reads what was recorded when the series was made.
"""
