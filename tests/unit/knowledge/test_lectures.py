from __future__ import annotations

from league_agents.knowledge.lectures import lectures
from league_agents.knowledge.passages import passages


def test_three_lectures_come_with_the_package_and_can_be_played() -> None:
    assert [lecture.title for lecture in lectures()] == [
        "Lecture 1: Protocols and Envelopes",
        "Lecture 2: Sorting",
        "Lecture 3: Error-correcting Codes",
    ]
    found = [passage for lecture in lectures() for passage in passages(lecture)]
    assert len(found) >= 42
    assert len({passage.opening_sentence for passage in found}) == len(found)
    assert all(50 <= len(passage.text.split()) <= 110 for passage in found)
    assert all(passage.chapter for passage in found)
