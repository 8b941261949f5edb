"""The cost of a match in leagues of different sizes."""

from __future__ import annotations

from benchmarks.league_size import league_cost


def test_every_mail_counts_once_for_each_recipient() -> None:
    few, more = league_cost(3), league_cost(4)
    assert (few.matches, more.matches) == (3, 6)
    # The start, the table, the end, and three mails a round; and an answer to the registration of each mailbox.
    assert (few.manager_sends, more.manager_sends) == (3 + 3 * 3 + 6, 3 + 3 * 3 + 8)
    assert 20 < few.kilobytes_a_match < 200
    assert more.delivered_bytes > few.delivered_bytes
    assert few.milliseconds_a_match > 0
