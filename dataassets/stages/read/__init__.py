"""read: files as they lie to `raw` records. Bad records become rows with a reason, never silence."""

from dataassets.stages.read.files import InputFile, fingerprint, list_files
from dataassets.stages.read.read import read

__all__ = ["InputFile", "fingerprint", "list_files", "read"]
