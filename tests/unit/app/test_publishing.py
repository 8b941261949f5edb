"""A season as a folder of pages: what is in it, what is not, and what it costs."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from league_agents.app.publishing import publish_match, publish_season
from league_agents.kit.errors import ConfigError
from tests.support.made_seasons import HOSTILE, TARGET, MadeSeason


class Parts(HTMLParser):
    """What a page is made of."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.source = path.read_text("utf-8")
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def links(self) -> list[str]:
        return [attrs["href"] or "" for tag, attrs in self.tags if tag == "a"]


def pages_of(folder: Path) -> dict[str, Parts]:
    return {str(path.relative_to(folder)): Parts(path) for path in sorted(folder.rglob("*.html"))}


def test_a_season_has_a_page_and_so_has_every_team_and_match_that_began(tmp_path: Path) -> None:
    published = publish_season(MadeSeason(played_rounds=3), tmp_path / "out")
    assert (published.teams, published.matches, published.left_out) == (6, 12, 0)
    pages = pages_of(tmp_path / "out")
    assert len(pages) == 1 + 6 + 12
    assert published.start == tmp_path / "out" / "index.html"
    # Once in the table, where no tie-break repeats it, and once in each of five rounds.
    assert pages["index.html"].texts.count("Points") == 1 + 5
    for heading in ("Standings", "Standings over time", "Cross table", "Schedule", "Log"):
        assert heading in pages["index.html"].texts
    assert "Head to head" in pages["teams/G001.html"].texts
    match = pages["matches/0101001.html"]
    assert {"What they were looking for", "Questions and answers", "Clocks", "Settled by the organiser"} <= set(
        match.texts
    )
    assert {TARGET["opening_sentence"], "18,342", "0.0213 USD", "10 s late", "left 2048"} <= set(match.texts)


def test_every_link_leads_to_a_page_of_the_folder_or_a_part_of_its_own(tmp_path: Path) -> None:
    publish_season(MadeSeason(played_rounds=2, divisions=("East", "West")), tmp_path)
    for name, page in pages_of(tmp_path).items():
        ids = {attrs["id"] for _, attrs in page.tags if "id" in attrs}
        for link in page.links():
            place, _, part = link.partition("#")
            assert not re.match(r"[a-z]+:|/", link)
            assert ((tmp_path / name).parent / place).resolve().is_file() if place else part in ids, (name, link)


def test_divisions_that_use_the_same_ids_are_kept_apart(tmp_path: Path) -> None:
    source = MadeSeason(names=("Same", "Same", "Third", "Fourth"), divisions=("east", "west"))
    published = publish_season(source, tmp_path)
    assert (published.teams, published.matches) == (8, 12)
    pages = pages_of(tmp_path)
    assert "Standings, west" in pages["index.html"].texts
    assert not [link for link in pages["matches/west.0101001.html"].links() if "east" in link]
    # Two lines for two teams of one name.
    assert pages["index.html"].source.count("<polyline") == 8
    publish_match(source, "west/0101001", tmp_path / "one")
    assert {name for name in pages_of(tmp_path / "one") if "matches" in name} == {"matches/west.0101001.html"}


def test_an_open_match_shows_nothing_that_is_secret_before_its_end(tmp_path: Path) -> None:
    publish_season(MadeSeason(played_rounds=2), tmp_path, viewer="public")
    page = pages_of(tmp_path)["matches/0103001.html"].source
    assert "This match is not over yet" in page
    for secret in (
        TARGET["opening_sentence"],
        TARGET["associative_word"],
        "Is word 1 a noun",
        "Ishmael",
        "The Sea Wolf",
    ):
        assert secret not in page


def test_no_mail_address_is_published(tmp_path: Path) -> None:
    publish_season(MadeSeason(text=" write to spy.master@league.example"), tmp_path)
    for name, page in pages_of(tmp_path).items():
        assert "league.example" not in page.source, name
    assert any("spy.master" in text for text in pages_of(tmp_path)["index.html"].texts)


def test_hostile_texts_are_texts(tmp_path: Path) -> None:
    publish_season(MadeSeason(text=HOSTILE, names=("A", "B", "C")), tmp_path)
    for name, page in pages_of(tmp_path).items():
        kinds = {tag for tag, _ in page.tags}
        assert kinds.isdisjoint({"script", "img", "iframe", "object", "form"}), name
        assert not [attrs for _, attrs in page.tags if any(key.startswith("on") or key == "style" for key in attrs)]
        assert any("<script>alert(1)</script>" in text for text in page.texts), name
        assert name.startswith("teams/") or any("{{ 7*7 }}" in text for text in page.texts), name
        policy = next(attrs["content"] or "" for _, attrs in page.tags if attrs.get("http-equiv"))
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "unsafe" not in policy
        assert "http:" not in page.source.replace("http-equiv", "")
        assert "https:" not in page.source


@pytest.mark.parametrize(
    "identity", ["../../etc/passwd", "a/b/c", "../b", "a/..", ".", "", "x" * 300, "a\0b", "ü", "con.html"]
)
def test_an_odd_id_never_becomes_a_path(identity: str) -> None:
    from league_agents.report.pages.shown import file_name

    assert re.fullmatch(r"teams/x-[0-9a-f]{16}\.html", file_name("teams", identity))
    assert file_name("matches", "0101001") == "matches/0101001.html"
    assert file_name("matches", "north/0101001") == "matches/north.0101001.html"


def test_one_match_is_written_beside_the_season(tmp_path: Path) -> None:
    source = MadeSeason()
    assert publish_match(source, "0102001", tmp_path).start == tmp_path / "matches" / "0102001.html"
    assert publish_match(source, "0101002", tmp_path).matches == 1
    assert source.reads == 2
    links = pages_of(tmp_path)["index.html"].links()
    assert {link for link in links if "matches/" in link} == {"matches/0101002.html", "matches/0102001.html"}
    with pytest.raises(ConfigError, match="there is no such match"):
        publish_match(source, "0999999", tmp_path)


def test_a_folder_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(ConfigError, match=r"--out: .*out.* cannot be written"):
        publish_season(MadeSeason(), tmp_path / "out")


def test_a_season_without_any_match_has_a_page(tmp_path: Path) -> None:
    publish_season(MadeSeason(played_rounds=-1), tmp_path)
    page = pages_of(tmp_path)["index.html"]
    assert "No round has been counted yet." in page.texts
    assert "Standings over time" not in page.texts


def test_a_season_of_ten_thousand_matches_is_one_page_that_reads_no_match(tmp_path: Path) -> None:
    # A process of its own, because the peak of memory is a process's; ``ru_maxrss`` would be that of its parent.
    program = """
import re, sys, time
from pathlib import Path
from league_agents.app.publishing import publish_season
from tests.support.made_seasons import MadeSeason
source = MadeSeason(names=[f"Team {n}" for n in range(100)], laps=2)
begins = time.process_time()
published = publish_season(source, Path(sys.argv[1]))
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(time.process_time() - begins, int(peak[1]) // 1024, source.reads)
print(published.matches, published.left_out)
"""
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    figures, counts = ran.stdout.splitlines()
    _, megabytes, reads = figures.split()
    assert (int(reads), counts) == (0, "0 9900")
    assert int(megabytes) < 200, ran.stdout
    page = Parts(tmp_path / "index.html")
    assert page.source.count("<tr>") > 9_900
