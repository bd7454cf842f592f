"""What lies beside the rows of a product: numbers read by their place, and tables read by ranges of a key.

Such files are named by the manifest, sealed and swept like all others, but are no part of the product's rows.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dataassets.store import layout, parquet
from loader.format import FileEntry, Manifest, ManifestError

if TYPE_CHECKING:
    from dataassets.store.store import Job, Store


@dataclass(frozen=True)
class Beside:
    """Reads and writes them; picklable, so that workers can hold its methods."""

    store: "Store"

    def read_spans(
        self, product: str, partition: str, name: str, starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.uint32]:
        """Some runs of the numbers of a file that `write_spans` wrote, one after the other.

        Args:
            product: of the file.
            partition: of the file.
            name: in the manifest.
            starts: int64, first number of each run.
            sizes: int64, how many.

        Raises:
            ManifestError: the file is too short.
        """
        whole = layout.join(self.store.folder(product, partition) or "", name)
        found = np.frombuffer(
            b"".join(self.store.files.read_ranges(whole, (starts * 4).tolist(), (sizes * 4).tolist())), "<u4"
        )
        if len(found) != (wanted := int(sizes.sum())):
            raise ManifestError(
                f"{self.store.files.path(whole)}: {len(found)} numbers where {wanted} are wanted; it was cut"
            )
        return found

    def write_spans(
        self, job: "Job", index: int, kind: str, values: Iterable[npt.NDArray[np.uint32]], *, rows: int
    ) -> FileEntry:
        """Write the numbers that belong to the rows of a part and are read by position, little-endian.

        Args:
            job: the product.
            index: number of the unit.
            kind: what they are; the file is named after it.
            values: uint32, the file's content.
            rows: of the part.

        Returns:
            The entry, its name (layout.name_beside of the part's) relative to the root; sha256 is the content's digest.
        """
        name = layout.name_beside(f"{job.folder}/{layout.part_name(index, 0, key=job.key)}.parquet", kind)
        with self.store.files.create(name) as f:
            for some in values:
                f.write(np.ascontiguousarray(some, "<u4"))
        return FileEntry(name, rows, f.size, f.sha256)

    def read_keys(self, product: str, partition: str, name: str, low: int, high: int) -> pa.Table:
        """Rows of a file that `write_keys` wrote whose key lies in a range; row groups outside it are not read.

        Args:
            product: of the file.
            partition: of the file.
            name: in the manifest.
            low: least key.
            high: greatest key.
        """
        with self.store.files.open(layout.join(self.store.folder(product, partition) or "", name)) as f:
            return parquet.read_between(f, column="key", low=low, high=high)

    def write_keys(self, job: "Job", index: int, table: pa.Table) -> tuple[FileEntry, str]:
        """Write keys by which later partitions look back at this one: Parquet, beside the rows.

        Args:
            job: the product.
            index: number of the file.
            table: sorted by a column `key`, which rises from file to file.

        Returns:
            The entry, its name relative to the root; the digest of the rows.
        """
        name = layout.name_beside(
            f"{job.folder}/{layout.part_name(index, 0, key=job.key)}.parquet", "kept", ending=".keys"
        )
        return self.store.write_file(name, table)


def rows_of(manifest: Manifest) -> tuple[FileEntry, ...]:
    """The files that hold a product's rows, not those that lie beside them."""
    return tuple(entry for entry in manifest.files if not layout.is_beside(entry.name))
