"""The printer's G-code files: a folder on disk, under paths that can't leave it.

A path is text with slashes, as the web page shows it: "vases/twisted vase.gcode". Names may have
spaces, quotes and letters of any script. A name that begins with a dot doesn't exist here.
"""

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import MappingProxyType

from printreach.contract.files import EntryType, FileEntry, FileRoot
from printreach.contract.unset import UNSET
from printreach.printers import loose

_UPLOADS = ".uploads"
_MAX_NAME_BYTES = 240
_MAX_DEPTH = 8
_HEAD_BYTES = 4096
_COMMENT = re.compile(r"^; ([^=\n]{1,60}?) = ([^\n]{1,80})$", re.MULTILINE)
_PRINT_TIME = "estimated printing time (normal mode)"
_NOTHING: Mapping[str, str] = MappingProxyType({})
_NAME = re.compile(r"(?!\.)[^\\:\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
"""No control characters, halves of characters, line and paragraph ends."""


class BadPath(Exception):
    """A path outside the folder; the sentence says why, without repeating it."""


class Upload:
    """An upload under way. The file appears at commit(); leaving the block without it drops it."""

    def __init__(self, store: "FileStore", folder: Path) -> None:
        self.size_bytes = 0
        self._store = store
        self._file = NamedTemporaryFile(dir=folder, delete=False)  # noqa: SIM115 - see __exit__

    def write(self, data: bytes | bytearray) -> None:
        self._file.write(data)
        self.size_bytes += len(data)

    def commit(self, path: str) -> None:
        """Put the complete file where it belongs, in place of what was there.

        Raises BadPath, also where a folder has the name.
        """
        target = self._store.locate(path)
        self._file.close()
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            Path(self._file.name).replace(target)
        except (IsADirectoryError, NotADirectoryError, FileExistsError):
            raise BadPath("A folder and a file can't have the same name.") from None

    def __enter__(self) -> "Upload":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        Path(self._file.name).unlink(missing_ok=True)


class FileStore:
    """The files below one folder."""

    def __init__(self, root: Path) -> None:
        """Open the store, and remove what an interrupted run left of its uploads."""
        self._root = root
        self._uploads = root / _UPLOADS
        shutil.rmtree(self._uploads, ignore_errors=True)
        self._uploads.mkdir(parents=True)

    def list(self) -> list[FileEntry]:
        """Everything, folders first, each by name."""
        return list(self._entries(self._root, _MAX_DEPTH))

    def locate(self, path: str) -> Path:
        """Return where a file of that path is, or would be. Raises BadPath."""
        names = path.split("/")
        if not all(map(_NAME.fullmatch, names)):
            raise BadPath("A name is missing, begins with a dot or has a forbidden character.")
        if len(names) > _MAX_DEPTH or any(len(name.encode()) > _MAX_NAME_BYTES for name in names):
            raise BadPath("A name is too long, or there are too many folders.")
        place = self._root.joinpath(*names)
        # Nothing here makes links, but the folder may be a person's own.
        if not place.resolve().is_relative_to(self._root.resolve()):
            raise BadPath("The path leads out of the printer's files.")
        return place

    def find(self, path: str) -> Path | None:
        """Return a file that exists; None where there is none. Raises BadPath."""
        place = self.locate(path)
        return place if place.is_file() else None

    def receive(self) -> Upload:
        """Begin to write a file."""
        return Upload(self, self._uploads)

    def delete(self, path: str) -> bool:
        """Delete a file, or a folder that is empty; False where there is nothing to delete.

        Raises BadPath for a folder with something in it.
        """
        place = self.locate(path)
        if place.is_dir():
            try:
                place.rmdir()
            except OSError:
                raise BadPath("The folder isn't empty.") from None
            return True
        if not place.is_file():
            return False
        place.unlink()
        return True

    def _entries(self, folder: Path, depth: int) -> Iterator[FileEntry]:
        for place in sorted(folder.iterdir(), key=lambda p: (not p.is_dir(), p.name.lower())):
            if place.name.startswith(".") or place.is_symlink() or depth == 0:
                continue
            facts = place.stat()
            is_folder = place.is_dir()
            written = _NOTHING if is_folder else _written_in(place)
            path = place.relative_to(self._root).as_posix()
            virtual_path = f"{FileRoot.GCODE}/{path}"
            yield FileEntry(
                type=EntryType.FOLDER if is_folder else EntryType.FILE,
                name=place.name,
                virtual_path=virtual_path,
                path=virtual_path,
                platform_path=path,
                size_bytes=0 if is_folder else facts.st_size,
                modified_time_sec=round(facts.st_mtime, 3),
                permissions="rw",
                est_print_time_sec=loose.known(loose.duration_s(written.get(_PRINT_TIME, ""))),
                est_filament_used_mm=loose.known(loose.count(written, "filament used [mm]")),
                est_filament_weight_mg=loose.known(_milligrams(written)),
                layer_count=loose.known(loose.count(written, "total layers count")),
                children=list(self._entries(place, depth - 1)) if is_folder else UNSET,
            )


def _written_in(place: Path) -> Mapping[str, str]:
    """Return the comments of PrusaSlicer at the beginning of a file, by their names."""
    try:
        with place.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return _NOTHING
    return dict(_COMMENT.findall(head.decode("utf-8", "replace")))


def _milligrams(written: Mapping[str, str]) -> int | None:
    grams = loose.positive(written, "filament used [g]")
    return None if grams is None else loose.count({"mg": grams * 1000}, "mg")
