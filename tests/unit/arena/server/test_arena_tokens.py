"""Tokens open what they were given for, and nothing else."""

from __future__ import annotations

import pickle

import pytest

from league_agents.arena.protocol.access import Principal
from league_agents.arena.server.tokens import LONGEST_TOKEN, Tokens


def test_a_token_opens_its_seat() -> None:
    tokens = Tokens()
    token = tokens.issue("m-1", "ann")
    claim = tokens.claim_of(token)
    assert claim is not None
    assert claim.principal == Principal.of_seat("m-1", "ann")
    assert tokens.is_open(claim)
    assert tokens.issue("m-1", "ben") != token


def test_what_is_kept_does_not_hold_the_token() -> None:
    tokens = Tokens()
    token = tokens.issue("m-1", "ann")
    kept = pickle.dumps((tokens._seats, tokens._of_match))
    assert token.partition(".")[2].encode() not in kept


@pytest.mark.parametrize(
    "change", ["", "x", "{0}x", "{1}.{0}", "{0}.", ".{1}", "{0}.{1}~", "{0}.{1}é", "a" * LONGEST_TOKEN * 2]
)
def test_anything_else_opens_nothing(change: str) -> None:
    tokens = Tokens()
    name, _, secret = tokens.issue("m-1", "ann").partition(".")
    assert tokens.claim_of(change.format(name, secret)) is None


def test_a_revoked_token_opens_nothing_and_those_who_showed_it_can_tell() -> None:
    tokens = Tokens()
    token = tokens.issue("m-1", "ann")
    claim, revision = tokens.claim_of(token), tokens.revision
    tokens.revoke("m-1", "ann")
    assert claim is not None
    assert not tokens.is_open(claim)
    assert tokens.claim_of(token) is None
    assert tokens.revision > revision


def test_a_forgotten_match_takes_its_tokens_along() -> None:
    tokens = Tokens()
    ann, other = tokens.issue("m-1", "ann"), tokens.issue("m-2", "ann")
    tokens.forget("m-1")
    assert tokens.claim_of(ann) is None
    assert tokens.claim_of(other) is not None


def test_a_second_token_for_a_seat_closes_the_first() -> None:
    tokens = Tokens()
    first, second = tokens.issue("m-1", "ann"), tokens.issue("m-1", "ann")
    assert tokens.claim_of(first) is None
    assert tokens.claim_of(second) is not None


def test_accounts_and_spectators_are_signed() -> None:
    tokens = Tokens()
    agent_id, account = tokens.new_account()
    watch = tokens.to_watch("m-1", "spectator-7")
    opened = [claim.principal for token in (account, watch) if (claim := tokens.claim_of(token)) is not None]
    assert opened == [Principal(accounts=frozenset({agent_id})), Principal.of_seat("m-1", "spectator-7")]
    for token in (account, watch):
        *said, signature = token.split("~")
        for place in range(len(said)):
            forged = [*said[:place], f"{said[place]}1", *said[place + 1 :], signature]
            assert tokens.claim_of("~".join(forged)) is None
        assert Tokens().claim_of(token) is None
