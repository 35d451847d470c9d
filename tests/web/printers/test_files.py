"""A printer's files: listing, uploads, and the limits on what a browser may do."""

import html
import json
import logging

import pytest

from printreach.contract.files import EntryType, FileDetails, FileEntry, FileList
from printreach.contract.status import State
from printreach.contract.unset import UNSET
from printreach.web.printers.folders import UnreadableList, folder_of, parse_folder_query
from tests.fakes.printer_http import OFFLINE
from tests.web.printers.conftest import Home, printing
from tests.web.sent import Sent
from tests.web.world import BASE_URL, send

PAGES = [
    "/files",
    "/files/download?path=gcode/a",
    "/files/delete?path=gcode/a",
    "/files/start?path=gcode/a",
]


def entry(name: str, *children: FileEntry, folder: str = "gcode", at: float = 1e9) -> FileEntry:
    path = f"{folder}/{name}"
    return FileEntry(
        type=EntryType.FOLDER if children else EntryType.FILE,
        name=name,
        virtual_path=path,
        path=path,
        platform_path=path,
        size_bytes=1_400_000,
        modified_time_sec=at,
        children=list(children) if children else UNSET,
    )


@pytest.fixture
def stocked(home: Home) -> Home:
    inside = entry("deep.gcode", folder="gcode/toys")
    root = [entry("old.gcode"), entry("new.gcode", at=2e9), entry("toys", inside)]
    home.world.printers.answers["/files/list"] = FileList(root=root)
    home.says(printing(state=State.IDLE))
    return home


def test_folders_come_first_and_then_the_newest_files(stocked: Home) -> None:
    page = stocked.get("/files").text

    assert page.index("toys") < page.index("new.gcode") < page.index("old.gcode")
    assert "1.4 MB" in page
    assert "deep.gcode" not in page


@pytest.mark.slow
def test_while_remote_control_is_locked_files_are_listed_and_nothing_else_is_offered(
    stocked: Home,
) -> None:
    offered = ["/files/start?", "/files/delete?", 'type="file"']
    page = stocked.get("/files").text
    assert [words in page for words in offered] == [True, True, True]

    send(stocked.browser, "/stop-everything")
    page = stocked.get("/files").text

    assert [words in page for words in offered] == [False, False, False]
    assert "new.gcode" in page
    assert "/files/download?" in page
    assert 'href="/remote-lock">unlock remote control' in page


def test_a_folder_is_opened_by_a_link(stocked: Home) -> None:
    page = stocked.get("/files?folder=gcode%2Ftoys").text

    assert "deep.gcode" in page
    assert "new.gcode" not in page


@pytest.mark.parametrize(
    "folder", ["gcode/none", "config", "gcode/../config", "/etc", "gcode/new.gcode"]
)
def test_a_folder_that_is_none_is_404(stocked: Home, folder: str) -> None:
    assert (
        stocked.browser.get(f"{stocked.path}/files", params={"folder": folder}).status_code == 404
    )


def test_script_in_a_file_name_is_text_and_its_links_are_whole(home: Home) -> None:
    evil = '"><script>alert(1)</script>&path=x#.gcode'
    home.world.printers.answers["/files/list"] = FileList(root=[entry(evil)])
    page = home.get("/files").text

    assert "<script>alert" not in page
    assert "path=gcode%2F%22%3E%3Cscript%3Ealert%281%29%3C%2Fscript%3E%26path%3Dx%23.gcode" in page


def test_a_page_shows_two_hundred_files_whatever_their_number(home: Home) -> None:
    root = [entry(f"{number:05}.gcode", at=1e9 + number) for number in range(20_000)]
    home.world.printers.answers["/files/list"] = FileList(root=root)
    home.says(printing(state=State.IDLE))
    first, last = home.get("/files").text, home.get("/files?page=100").text

    assert first.count("Download ") == last.count("Download ") == 200
    assert "Page 1 of 100, 20000 files" in first
    assert "19999.gcode" in first
    assert "00000.gcode" in last


def test_a_name_of_a_megabyte_is_cut_and_leads_nowhere(home: Home) -> None:
    home.world.printers.answers["/files/list"] = FileList(root=[entry("x" * 1_000_000)])
    page = home.get("/files").text

    assert len(page) < 100_000
    assert "x" * 255 in page
    assert "files/download?path" not in page


@pytest.mark.parametrize("list_", [{"Root": 7}, {"Root": [{}]}, {"Root": [{"Type": "dir"}]}, {}])
def test_a_list_that_is_none_is_told_of(home: Home, list_: object) -> None:
    home.world.printers.answers["/files/list"] = list_

    assert "be read; the agent may be of another version" in home.get("/files").text


def test_a_list_that_is_nested_without_end_is_no_list() -> None:
    query = parse_folder_query(None, None, None, None)
    assert query is not None
    with pytest.raises(UnreadableList):
        folder_of(b'{"Result":{"Root":' + b"[" * 100_000, query, "octoprint")


def test_files_of_a_printer_that_is_away_are_not_shown(home: Home) -> None:
    home.world.printers.statuses[home.printer_id] = OFFLINE
    home.world.printers.answers["/files/list"] = OFFLINE

    assert "be listed now." in home.get("/files").text


def upload(
    home: Home, name: str, body: bytes, folder: str = "gcode", **query: str
) -> tuple[int, str]:
    answer = home.browser.post(
        f"{home.path}/files",
        params={"folder": folder, **query},
        files={"file": (name, body)},
        headers={"origin": BASE_URL},
        follow_redirects=False,
    )
    return answer.status_code, answer.headers.get("location", answer.text)


def test_an_upload_arrives_whole_at_its_folder(stocked: Home) -> None:
    body = bytes(range(256)) * 100_000  # more than the framework takes of other forms
    status, location = upload(stocked, "vase.gcode", body, "gcode/toys")

    assert (status, location) == (303, f"{stocked.path}/files?folder=gcode%2Ftoys")
    assert stocked.world.printers.uploads == {"gcode/toys/vase.gcode": body}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\prints\\a.gcode", "a.gcode"),
        (" a b.gcode ", "a b.gcode"),
    ],
)
def test_an_uploads_name_is_no_path(stocked: Home, sent: str, kept: str) -> None:
    upload(stocked, sent, b"G28")

    assert list(stocked.world.printers.uploads) == [f"gcode/{kept}"]


@pytest.mark.parametrize("name", ["..", "x" * 201, "a\x7fb"])
def test_a_name_that_no_file_may_have_is_refused(stocked: Home, name: str) -> None:
    assert upload(stocked, name, b"G28")[0] == 400
    assert stocked.world.printers.uploads == {}


@pytest.mark.parametrize(
    "body",
    [b"", b"--b\r\n", b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--b--\r\n'],
)
def test_a_form_without_a_file_is_refused(stocked: Home, body: bytes) -> None:
    answer = stocked.browser.post(
        f"{stocked.path}/files",
        content=body,
        headers={"origin": BASE_URL, "content-type": "multipart/form-data; boundary=b"},
    )

    assert answer.status_code == 400
    assert stocked.world.printers.uploads == {}


def test_an_upload_of_another_page_is_refused(stocked: Home) -> None:
    answer = stocked.browser.post(
        f"{stocked.path}/files",
        files={"file": ("a.gcode", b"G28")},
        headers={"origin": "https://own-abc.tunnel.example"},
    )

    assert answer.status_code == 403
    assert stocked.world.printers.uploads == {}


def details(path: str, size_bytes: int = 1_400_000) -> FileDetails:
    return FileDetails(
        virtual_path=path,
        platform_path=path,
        file_name=path.rpartition("/")[2],
        size_bytes=size_bytes,
    )


def test_an_upload_of_a_known_name_replaces_the_file_only_once_that_was_asked(
    stocked: Home,
) -> None:
    stocked.world.printers.answers["/files/details"] = details("gcode/new.gcode")

    status, page = upload(stocked, "new.gcode", b"G28")

    assert status == 409
    assert "Replace new.gcode?" in page
    assert "1.4 MB" in page
    assert stocked.world.printers.uploads == {}
    action = html.unescape(page.partition('<form class="upload" method="post" action="')[2])
    assert "replace=new.gcode" in action.partition('"')[0]
    assert upload(stocked, "new.gcode", b"G28", replace="new.gcode")[0] == 303
    assert stocked.world.printers.uploads == {"gcode/new.gcode": b"G28"}


def test_leave_to_replace_one_file_is_none_for_another(stocked: Home) -> None:
    stocked.world.printers.answers["/files/details"] = details("gcode/old.gcode")

    assert upload(stocked, "old.gcode", b"G28", replace="new.gcode")[0] == 409
    assert stocked.world.printers.uploads == {}


def test_the_question_before_an_upload_knows_whether_there_is_such_a_file(stocked: Home) -> None:
    question = "/files/replace?folder=gcode&name=new.gcode"
    assert stocked.get(question).status_code == 204

    stocked.world.printers.answers["/files/details"] = details("gcode/new.gcode")

    assert "Replace new.gcode?" in stocked.get(question).text


def test_to_upload_and_print_a_known_name_still_leads_to_the_print(stocked: Home) -> None:
    stocked.world.printers.answers["/files/details"] = details("gcode/new.gcode")

    assert "then=print" in upload(stocked, "new.gcode", b"G28", then="print")[1]
    location = upload(stocked, "new.gcode", b"G28", then="print", replace="new.gcode")[1]
    assert "/files/start?path=" in location


@pytest.mark.parametrize("state", [State.PRINTING, State.PAUSED, State.WARMING_UP])
@pytest.mark.parametrize("printed", ["vase.gcode", "toys/vase.gcode", "vase"])
def test_the_file_that_is_being_printed_is_neither_replaced_nor_deleted(
    stocked: Home, printed: str, state: State
) -> None:
    stocked.says(printing(state=state, file_name=printed))
    stocked.world.printers.answers["/files/details"] = details("gcode/vase.gcode")

    for replace in ("", "vase.gcode"):
        status, page = upload(stocked, "vase.gcode", b"G28", replace=replace)
        assert status == 409
        assert "be replaced now." in page
    asked = stocked.get("/files/delete?path=gcode/vase.gcode").text
    answer = stocked.send("/files/delete", path="gcode/vase.gcode")

    assert "be deleted now." in asked
    assert answer.status_code == 409
    assert stocked.orders == []
    assert stocked.world.printers.uploads == {}


def test_another_file_is_deleted_and_replaced_during_a_print(stocked: Home) -> None:
    stocked.says(printing(file_name="vase.gcode"))

    assert stocked.send("/files/delete", path="gcode/new.gcode").status_code == 303
    assert upload(stocked, "vase-2.gcode", b"G28")[0] == 303


def test_the_file_of_a_print_that_ended_is_deleted(stocked: Home) -> None:
    stocked.says(printing(state=State.COMPLETE, file_name="vase.gcode"))

    assert stocked.send("/files/delete", path="gcode/vase.gcode").status_code == 303


def test_an_empty_file_is_not_uploaded(stocked: Home) -> None:
    status, page = upload(stocked, "empty.gcode", b"")

    assert status == 400
    assert "This file is empty" in page
    assert stocked.world.printers.begun == {}


def test_an_empty_file_is_not_offered_for_a_print(stocked: Home) -> None:
    stocked.world.printers.answers["/files/details"] = details("gcode/new.gcode", 0)

    page = stocked.get("/files/file?path=gcode/new.gcode").text
    assert "there is nothing to print" in page
    assert "/files/start?" not in page
    question = stocked.get("/files/start?path=gcode/new.gcode").text
    assert "The file is empty." in question
    assert "Start printing" not in question


def test_a_file_that_the_printer_does_not_print_is_said_to_be_one(stocked: Home) -> None:
    location = upload(stocked, "notes.txt", b"hello")[1]

    assert "print files of this kind" in stocked.browser.get(location).text


def test_a_download_is_saved_and_never_shown(stocked: Home) -> None:
    stocked.world.printers.raw["/files/download"] = ("text/html", b"<script>alert(1)</script>")
    answer = stocked.browser.get(
        f"{stocked.path}/files/download", params={"path": 'gcode/a"\u00e4.html'}
    )

    assert answer.content == b"<script>alert(1)</script>"
    assert answer.headers["content-type"].startswith("application/octet-stream")
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''a%22%C3%A4.html"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_deleting_and_printing_are_asked_about_first(stocked: Home) -> None:
    assert "Delete new.gcode?" in stocked.get("/files/delete?path=gcode/new.gcode").text
    assert "Print new.gcode?" in stocked.get("/files/start?path=gcode/new.gcode").text
    assert stocked.orders == []


def test_a_file_is_deleted(stocked: Home) -> None:
    assert stocked.send("/files/delete", path="gcode/new.gcode").status_code == 303
    (ordered,) = stocked.orders
    assert (ordered.command, dict(ordered.query)) == ("/files/delete", {"path": "gcode/new.gcode"})


def test_a_file_is_printed(stocked: Home) -> None:
    stocked.world.printers.effects["/start"] = printing()
    assert stocked.send("/files/start", path="gcode/new.gcode").status_code == 303
    (ordered,) = stocked.orders
    assert ordered.command == "/start"
    assert json.loads(ordered.arguments) == {"Path": "gcode/new.gcode"}


@pytest.mark.parametrize("path", ["", "gcode", "config/printer.cfg", "gcode/../config/x"])
def test_a_path_that_is_no_file_reaches_no_printer(stocked: Home, path: str) -> None:
    for form in ("/files/delete", "/files/start"):
        assert stocked.send(form, path=path).status_code == 400
    assert stocked.orders == []


@pytest.mark.parametrize("page", PAGES)
def test_another_accounts_files_are_as_those_of_no_printer(
    home: Home, bobs_printer: str, page: str
) -> None:
    theirs = home.browser.get(f"/printers/{bobs_printer}{page}")
    unknown = home.browser.get(f"/printers/{'a' * 32}{page}")

    assert theirs.status_code == unknown.status_code == 404
    assert theirs.text == unknown.text


def test_an_upload_that_breaks_off_is_no_failure_of_the_service(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    part = 'Content-Disposition: form-data; name="file"; filename="a.gcode"'
    sent = Sent(
        "POST",
        f"{home.path}/files",
        [f"--b\r\n{part}\r\n\r\nG28".encode()],
        is_whole=False,
        leaves=True,
        content_type="multipart/form-data; boundary=b",
        cookie="; ".join(f"{name}={value}" for name, value in home.browser.cookies.items()),
    ).to(home.world, home.browser)

    assert sent.status == 400
    assert [one.levelname for one in caplog.records if one.levelno > logging.INFO] == []
