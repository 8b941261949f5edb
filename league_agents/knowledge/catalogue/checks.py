"""Checks of the catalogue's rules."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from league_agents.knowledge.catalogue import DOMAINS_FILE, catalogue_files
from league_agents.knowledge.sentences import split_sentences
from league_agents.knowledge.titles import title_key
from league_agents.knowledge.words import content_words

MAX_HINT_WORDS = 15
MIN_FACTS = 5
FIRST_PROTECTED_YEAR = 1929
"""Works published before this year are in the public domain in the United States."""

_FIELDS: dict[str, type | tuple[type, ...]] = {
    "title": str,
    "author": str,
    "year": int,
    "language": str,
    "opening_sentence": str,
    "hint": str,
    "facts": list,
    "words": list,
    "checked": (str, type(None)),
}
_OPTIONAL_FIELDS = frozenset({"english_title"})
_CHECKED = re.compile(r"exact: \S+ \S+")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_WORD = re.compile(r"[^\W\d_]+(?:[-'’ ][^\W\d_]+)*")


def check_catalogue(files: Mapping[str, Any] | None = None) -> list[str]:
    """List all problems of the catalogue's files (default: the package's), one line each; empty if there are none."""
    files = catalogue_files() if files is None else files
    domains = files.get(DOMAINS_FILE)
    problems = list(_check_domains(domains))
    known: dict[str, frozenset[str]] = {}
    if isinstance(domains, dict):
        known = {domain: frozenset(words) for domain, words in domains.items() if isinstance(words, list)}
    seen: dict[str, str] = {}
    openings: dict[str, str] = {}
    for name, entries in files.items():
        if name == DOMAINS_FILE:
            continue
        if not isinstance(entries, list):
            problems.append(f"{name}: not a list of entries")
            continue
        for number, entry in enumerate(entries, start=1):
            title = entry.get("title") if isinstance(entry, dict) else None
            place = f"{name}: {title if isinstance(title, str) else f'entry {number}'}"
            problems.extend(f"{place}: {problem}" for problem in _check_entry(entry, known))
            if isinstance(title, str):
                if other := seen.get(title_key(title)):
                    problems.append(f"{place}: the title is also in {other}")
                seen.setdefault(title_key(title), name)
                opening = entry.get("opening_sentence")
                if isinstance(opening, str) and (other := openings.setdefault(opening.casefold(), title)) != title:
                    problems.append(f"{place}: has the opening sentence of {other}")
    if not seen:
        problems.append("no works at all")
    return problems


def _check_domains(domains: Any) -> Iterator[str]:
    if not isinstance(domains, dict) or not domains:
        yield f"{DOMAINS_FILE}: not an object of domain -> words"
        return
    for domain, words in domains.items():
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            yield f"{DOMAINS_FILE}: {domain}: not a list of words"
            continue
        if len(words) < 2:
            yield f"{DOMAINS_FILE}: {domain}: one word would be given away by its domain"
        folded = [word.casefold() for word in words]
        for word in sorted({word for word in folded if folded.count(word) > 1}):
            yield f"{DOMAINS_FILE}: {domain}: {word!r} is there twice"
        for word in words:
            if not _WORD.fullmatch(word):
                yield f"{DOMAINS_FILE}: {domain}: {word!r} is no word"


def _check_entry(entry: Any, domains: Mapping[str, frozenset[str]]) -> Iterator[str]:
    if not isinstance(entry, dict):
        yield "not an object"
        return
    wrong = [field for field, kind in _FIELDS.items() if field not in entry or not isinstance(entry[field], kind)]
    for field in wrong:
        yield f"{field} is missing or of the wrong type"
    for field in sorted(set(entry) - set(_FIELDS) - _OPTIONAL_FIELDS):
        yield f"{field} is no field of an entry"
    if wrong:
        return
    for field in ("title", "author", "opening_sentence", "hint"):
        if not entry[field].strip() or entry[field] != " ".join(entry[field].split()):
            yield f"{field} is empty or has stray white space"
    if not isinstance(entry.get("english_title"), str | None):
        yield "english_title is no text"
        return
    if isinstance(entry["year"], bool) or not entry["year"] < FIRST_PROTECTED_YEAR:
        yield f"the year {entry['year']} is not before {FIRST_PROTECTED_YEAR}"
    if not _LANGUAGE.fullmatch(entry["language"]):
        yield f"language {entry['language']!r} is no ISO 639 code"
    if len(split_sentences(entry["opening_sentence"])) != 1:
        yield f"the opening is {len(split_sentences(entry['opening_sentence']))} sentences"
    if entry["checked"] is not None and not _CHECKED.fullmatch(entry["checked"]):
        yield "checked is neither null nor 'exact: <package> <version>'"
    yield from _check_hint(entry)
    yield from _check_facts(entry["facts"])
    yield from _check_words(entry["words"], domains)


def _check_hint(entry: dict[str, Any]) -> Iterator[str]:
    hint = entry["hint"]
    if len(hint.split()) > MAX_HINT_WORDS:
        yield f"the hint has {len(hint.split())} words, the limit is {MAX_HINT_WORDS}"
    for field in ("title", "english_title", "opening_sentence"):
        shared = content_words(hint) & content_words(entry.get(field) or "")
        if shared:
            yield f"the hint shares {', '.join(sorted(shared))} with the {field.replace('_', ' ')}"


def _check_facts(facts: list[Any]) -> Iterator[str]:
    if not all(isinstance(fact, str) and fact.strip() for fact in facts):
        yield "a fact is empty or no text"
        return
    if len(set(facts)) < MIN_FACTS:
        yield f"{len(set(facts))} different facts, at least {MIN_FACTS} are needed"


def _check_words(words: list[Any], domains: Mapping[str, frozenset[str]]) -> Iterator[str]:
    if not words:
        yield "no associative word"
    seen = set()
    for element in words:
        if not isinstance(element, dict) or set(element) != {"word", "domain"}:
            yield f"{element!r} is not a word with its domain"
            continue
        word, domain = element["word"], element["domain"]
        if not isinstance(word, str) or not isinstance(domain, str):
            yield f"{element!r} is not a word with its domain"
        elif domain not in domains:
            yield f"the domain {domain!r} of {word!r} is not in {DOMAINS_FILE}"
        elif word not in domains[domain]:
            yield f"{word!r} is not among the words of {domain!r}"
        elif word in seen:
            yield f"{word!r} is there twice"
        else:
            seen.add(word)
