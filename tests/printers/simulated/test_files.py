"""The printer's files: which names there can be, and that nothing leads out."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printreach.contract.files import FileEntry
from printreach.contract.unset import UNSET
from printreach.printers.simulated.files import BadPath, FileStore


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "gcodes"


@pytest.fixture
def store(root: Path) -> FileStore:
    return FileStore(root)


def put(store: FileStore, path: str, data: bytes = b"G28\n") -> None:
    with store.receive() as upload:
        upload.write(data)
        upload.commit(path)


def paths(entries: list[FileEntry]) -> list[str]:
    return [path for e in entries for path in (e.platform_path, *paths(e.children or []))]


@pytest.mark.parametrize(
    "path",
    [
        "vase.gcode",
        "twisted vase.gcode",
        'it\'s "quoted".gcode',
        "größe-試験-🧊.gcode",
        "50%25 & more?#.gcode",
        "folder/in folder/part.gcode",
        "a" * 240,
        "trailing dot.",
        "12 h 30.gcode",
    ],
)
def test_a_file_is_found_under_the_name_it_was_given(store: FileStore, path: str) -> None:
    put(store, path, b"data")
    place = store.find(path)

    assert place is not None
    assert place.read_bytes() == b"data"
    assert path in paths(store.list())


BAD_PATHS = [
    *("", ".", "..", "/", "/etc/passwd", "//etc/passwd", "../x", "a/../../x", "a/..", "a//b", "a/"),
    *("./a", ".hidden", "a/.hidden", ".uploads/x", "..\\x", "C:\\x", "C:x", "a\\..\\..\\x"),
    *("a\0b", "a\nb", "a\rb", "a\x7fb", "a\u2028b", "\ud800", "a" * 241, "ä" * 121),
    "/".join("a" * 9),
]


@pytest.mark.parametrize("path", BAD_PATHS)
def test_a_path_that_is_none_of_ours_is_refused_everywhere(store: FileStore, path: str) -> None:
    for act in (store.locate, store.find, store.delete, lambda path: put(store, path)):
        with pytest.raises(BadPath):
            act(path)
    assert store.list() == []


@given(path=st.text(alphabet="./\\ab%\0~:", max_size=12))
def test_no_path_leads_out_of_the_folder(path: str) -> None:
    root = Path("/nowhere/gcodes")
    store = FileStore.__new__(FileStore)
    store._root = root
    try:
        place = store.locate(path)
    except BadPath:
        return

    assert place.resolve().is_relative_to(root)
    assert place != root


def test_a_link_that_leads_out_is_not_followed(store: FileStore, root: Path) -> None:
    (root.parent / "secret.txt").write_text("secret")
    (root / "way-out").symlink_to(root.parent)

    with pytest.raises(BadPath):
        store.find("way-out/secret.txt")
    assert store.list() == []


def test_half_an_upload_leaves_nothing_behind(store: FileStore, root: Path) -> None:
    with store.receive() as upload:
        upload.write(b"half")

    assert store.list() == []
    assert [place for place in root.rglob("*") if place.is_file()] == []


def test_an_upload_is_not_seen_before_it_is_complete(store: FileStore) -> None:
    put(store, "part.gcode", b"old")
    with store.receive() as upload:
        upload.write(b"ne")
        place = store.find("part.gcode")
        assert place is not None
        assert place.read_bytes() == b"old"
        upload.write(b"w")
        upload.commit("part.gcode")

    assert place.read_bytes() == b"new"


def test_what_an_interrupted_run_left_is_removed_at_the_next_start(root: Path) -> None:
    FileStore(root).receive().write(b"half")
    FileStore(root)

    assert [place for place in root.rglob("*") if place.is_file()] == []


def test_a_file_and_a_folder_can_not_have_the_same_name(store: FileStore) -> None:
    put(store, "a/b.gcode")
    for path in ("a", "a/b.gcode/c.gcode"):
        with pytest.raises(BadPath):
            put(store, path)

    assert paths(store.list()) == ["a", "a/b.gcode"]


def test_deleting_takes_files_and_empty_folders_alone(store: FileStore) -> None:
    put(store, "a/b.gcode")
    with pytest.raises(BadPath):
        store.delete("a")

    assert store.delete("a/b.gcode")
    assert not store.delete("a/b.gcode")
    assert store.delete("a")
    assert store.list() == []


def test_the_list_has_folders_first_and_sizes(store: FileStore) -> None:
    put(store, "b.gcode", b"12345")
    put(store, "A.gcode")
    put(store, "z/c.gcode")
    folder, first, second = store.list()

    assert [folder.platform_path, first.platform_path, second.platform_path] == [
        "z",
        "A.gcode",
        "b.gcode",
    ]
    assert second.size_bytes == 5
    assert second.children is UNSET
