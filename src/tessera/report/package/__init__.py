"""Make the upload of this artifact: one zip with code, results, manifest and checksums.

``make`` writes it, ``verify_package`` checks it (`zip_file`); `contents` says what goes in, `offline` adds
what a machine without a network needs. The same input gives the same bytes. The zip contains no name of the
machine that made it.
"""

from tessera.report.package.zip_file import WrittenPackage, make, verify_package

__all__ = ["WrittenPackage", "make", "verify_package"]
