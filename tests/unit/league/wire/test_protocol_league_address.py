"""Who a mail is from: only the address counts, and only if there is exactly one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from league_agents.league.wire.address import address_key, read_address, read_mailbox, same_address


@pytest.mark.parametrize(
    ("header", "address"),
    [
        ("lm@example.com", "lm@example.com"),
        (" lm@example.com ", "lm@example.com"),
        ("<lm@example.com>", "lm@example.com"),
        ("League Office <LM@Example.com>", "LM@Example.com"),
        ('"lm@example.com" <evil@example.org>', "evil@example.org"),
        ("lm@example.com <evil@example.org>", "evil@example.org"),
        ('"a, b <lm@example.com>" <evil@example.org>', "evil@example.org"),
        ('"say \\"hi\\" <lm@example.com>" <evil@example.org>', "evil@example.org"),
        ("(lm@example.com) evil@example.org", "evil@example.org"),
        ("evil@example.org (nested (lm@example.com))", "evil@example.org"),
        ("=?utf-8?q?lm=40example=2Ecom?= <evil@example.org>", "evil@example.org"),
        ("=?utf-8?b?PGxtQGV4YW1wbGUuY29tPg==?= <evil@example.org>", "evil@example.org"),
        ("Very Long Name\r\n <lm@example.com>", "lm@example.com"),
        ("שופט <ref@example.com>", "ref@example.com"),
        ("x@bücher.example", "x@xn--bcher-kva.example"),
        ("plus+tag@example.com", "plus+tag@example.com"),
    ],
)
def test_the_address_part_is_the_sender(header: str, address: str) -> None:
    assert read_mailbox(header) == address


@pytest.mark.parametrize(
    "header",
    [
        "",
        "nobody",
        "lm@example.com, evil@example.org",
        "<lm@example.com> <evil@example.org>",
        "<lm@example.com>, <evil@example.org>",
        "team: a@example.com, b@example.com;",
        "lm@example.com evil@example.org",
        "<lm@example.com> and more",
        "<lm@example.com",
        "lm@example.com>",
        '"lm@example.com',
        '"lm"@example.com',
        "<@relay.example,@other.example:lm@example.com>",
        "(unclosed lm@example.com",
        "lm@example.com\x00",
        "lm@example.com\nFrom: evil@example.org",
        "lm@[127.0.0.1]",
        "l\u212am@example.com",
        "x@ｅxample.com",
        "x@exam\u212aple.com",
        "a" * 3000 + "@example.com",
        "=?utf-8?q?lm=40example=2Ecom?=",
    ],
)
def test_a_header_without_exactly_one_plain_address_is_from_nobody(header: str) -> None:
    assert read_mailbox(header) is None


def test_only_ascii_letters_are_folded() -> None:
    assert same_address("LM@Example.COM", "lm@example.com")
    assert not same_address("\u212aing@example.com", "king@example.com")
    assert not same_address("lm@example.com", "lm@example.org")
    assert same_address("x@bücher.example", "X@XN--BCHER-KVA.example")


@given(st.text() | st.emails())
def test_a_key_is_its_own_key_and_any_header_can_be_read(text: str) -> None:
    read = read_mailbox(text)
    assert read is None or (read.isascii() and read_address(read) == read)
    assert address_key(address_key(text)) == address_key(text)
