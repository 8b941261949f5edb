"""Make the package's noun data from Debian's ``wordnet-base`` (WordNet 3.0) and ``scowl`` packages.

    .venv/bin/python -m benchmarks.make_nouns --wordnet /usr/share/wordnet --scowl /usr/share/dict/scowl

Rule 1: only facts that the two sources state are written; ``league_agents/knowledge/nouns/__init__.py`` has the format.
Rule 2: a noun is kept if readers may know it: a word of SCOWL's lists up to size 60, or up to three more common ones.
Names (WordNet's instances) are left out. A synset is kept for its nouns or because a kept synset is below it.
"""

from __future__ import annotations

import argparse
import lzma
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from league_agents.knowledge.nouns import DATA_FILE, SYNSETS_MARK
from league_agents.knowledge.words import STOP_WORDS

_LISTS = ("english", "american", "british")
_SIZES = (10, 20, 35, 40, 50, 55, 60)
_PHRASE_LEVEL = 3
"""Every word of a kept phrase is at least this common."""

_WHOLES = frozenset({"#m", "#s", "#p", ";c"})
"""Pointers to a whole, a substance or group, and to the topic of the synset."""

_MOST_TOKENS = 3
_GLOSS_WORDS = 10
_PLAIN_WORD = re.compile(r"[a-z][a-z'-]*")


@dataclass(slots=True)
class _Synset:
    topic_file: int
    lemmas: list[str]
    hypernyms: list[str] = field(default_factory=list)
    wholes: list[str] = field(default_factory=list)
    gloss: str = ""
    is_instance: bool = False


def main() -> None:
    """Write the data file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wordnet", type=Path, required=True)
    parser.add_argument("--scowl", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=DATA_FILE)
    options = parser.parse_args()
    levels = _levels(options.scowl)
    names = _names(options.scowl)
    synsets = _synsets(options.wordnet / "data.noun")
    kept_lemmas = {key: [lemma for lemma in one.lemmas if _is_kept(lemma, levels)] for key, one in synsets.items()}
    kept: set[str] = set()
    for key, one in synsets.items():
        if not one.is_instance and kept_lemmas[key]:
            kept.update(_with_ancestors(key, synsets))
    order = sorted(kept)
    numbers = {key: number for number, key in enumerate(order)}
    counts = _counts(options.wordnet / "cntlist.rev")
    all_counts = _counts_by_class(options.wordnet / "cntlist.rev")
    words: dict[str, list[tuple[int, int]]] = defaultdict(list)
    lines: list[str] = []
    for key in order:
        one = synsets[key]
        lemmas = kept_lemmas[key] or one.lemmas[:1]
        for lemma in kept_lemmas[key]:
            words[lemma].append((numbers[key], counts.get((_american(lemma, one), key), 0)))
        said = [word for word in _PLAIN_WORD.findall(one.gloss) if levels.get(word, 9) <= _PHRASE_LEVEL]
        gloss = dict.fromkeys(word for word in said if word not in STOP_WORDS and len(word) > 2)
        fields = (
            str(one.topic_file),
            " ".join(str(numbers[each]) for each in one.hypernyms if each in numbers),
            " ".join(str(numbers[each]) for each in one.wholes if each in numbers),
            ",".join(lemma.lower().replace("_", " ") for lemma in lemmas),
            " ".join(list(gloss)[:_GLOSS_WORDS]),
        )
        lines.append("|".join(fields))
    order_of_senses = _sense_order(options.wordnet / "index.noun", numbers)
    entries: list[str] = []
    for word, found in words.items():
        usual = order_of_senses.get(_american(word, synsets[order[found[0][0]]]), ())
        places = {number: place for place, number in enumerate(usual)}
        senses = sorted(found, key=lambda sense: places.get(sense[0], 99))
        shown = " ".join(f"{number}:{count}" if count else str(number) for number, count in senses)
        mark = "n" if word in names else ""
        level = min(9, _level(word, levels) + _rarely_noun(word, all_counts))
        entries.append(f"{word.replace('_', ' ')}|{level}{mark}|{shown}")
    text = "\n".join([*sorted(entries), SYNSETS_MARK, *lines])
    options.out.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(entries)} nouns, {len(lines)} synsets, {len(text)} bytes, {options.out.stat().st_size} compressed")


def _levels(folder: Path) -> dict[str, int]:
    """Return word -> size class, 1 (the most common words) to 6."""
    found: dict[str, int] = {}
    for size in _SIZES:
        for name in _LISTS:
            path = folder / f"{name}-words.{size}"
            for word in path.read_text(encoding="latin-1").split() if path.is_file() else ():
                found.setdefault(word, max(1, size // 10))
    return found


def _names(folder: Path) -> set[str]:
    """Return names of persons and places, in lower case, that are also words."""
    found: set[str] = set()
    for size in _SIZES:
        path = folder / f"english-proper-names.{size}"
        found.update(path.read_text(encoding="latin-1").lower().split() if path.is_file() else ())
    return found


def _is_kept(lemma: str, levels: dict[str, int]) -> bool:
    if not lemma.islower():
        return False
    tokens = re.split(r"[_-]", lemma)
    is_phrase = len(tokens) <= _MOST_TOKENS and all(levels.get(token, 9) <= _PHRASE_LEVEL for token in tokens)
    return lemma in levels or is_phrase


def _rarely_noun(word: str, counts: dict[str, tuple[int, int]]) -> int:
    """Return how much less common the noun is than the word: "above" and "keen" are usually no nouns."""
    as_noun, as_other = counts.get(word, (0, 0))
    return sum(as_other > times * (as_noun + 1) for times in (2, 5, 10, 20))


def _counts_by_class(path: Path) -> dict[str, tuple[int, int]]:
    """Return lemma -> how often it was tagged as a noun and as another word."""
    found: dict[str, tuple[int, int]] = {}
    for line in path.read_text(encoding="latin-1").splitlines():
        key, _, times = line.split()
        lemma, _, rest = key.partition("%")
        as_noun, as_other = found.get(lemma, (0, 0))
        is_noun = rest.startswith("1:")
        found[lemma] = (as_noun + int(times) * is_noun, as_other + int(times) * (not is_noun))
    return found


def _american(lemma: str, synset: _Synset) -> str:
    """Return the American spelling, whose senses were counted; the lemma itself if it has no other spelling."""
    spelling = lemma.replace("our", "or").replace("grey", "gray")
    return spelling if spelling in synset.lemmas else lemma


def _level(word: str, levels: dict[str, int]) -> int:
    if word in levels:
        return levels[word]
    return min(9, 2 + max(levels.get(token, 7) for token in re.split(r"[_-]", word)))


def _synsets(path: Path) -> dict[str, _Synset]:
    found: dict[str, _Synset] = {}
    for line in path.read_text(encoding="latin-1").splitlines():
        if line.startswith("  "):
            continue
        data, _, gloss = line.partition(" | ")
        fields = data.split()
        count = int(fields[3], 16)
        one = _Synset(int(fields[1]), [fields[4 + 2 * i] for i in range(count)], gloss=gloss.split('"')[0])
        rest = fields[4 + 2 * count + 1 :]
        for pointer, target, part, _ in zip(*[iter(rest)] * 4, strict=False):
            if part != "n":
                continue
            if pointer == "@":
                one.hypernyms.append(target)
            elif pointer == "@i":
                one.is_instance = True
            elif pointer in _WHOLES:
                one.wholes.append(target)
        found[fields[0]] = one
    return found


def _with_ancestors(key: str, synsets: dict[str, _Synset]) -> set[str]:
    found, open_ = {key}, [key]
    while open_:
        for above in synsets[open_.pop()].hypernyms:
            if above not in found:
                found.add(above)
                open_.append(above)
    return found


def _sense_order(path: Path, numbers: dict[str, int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for line in path.read_text(encoding="latin-1").splitlines():
        if not line.startswith("  "):
            fields = line.split()
            found[fields[0]] = [numbers[key] for key in fields[-int(fields[2]) :] if key in numbers]
    return found


def _counts(path: Path) -> dict[tuple[str, str], int]:
    """Return (lemma, synset) -> how often the sense was tagged in texts."""
    by_sense: dict[tuple[str, int], int] = {}
    for line in path.read_text(encoding="latin-1").splitlines():
        key, sense, count = line.split()
        lemma, _, rest = key.partition("%")
        if rest.startswith("1:"):
            by_sense[lemma, int(sense)] = int(count)
    found: dict[tuple[str, str], int] = {}
    for line in (path.parent / "index.noun").read_text(encoding="latin-1").splitlines():
        if line.startswith("  "):
            continue
        fields = line.split()
        for number, offset in enumerate(fields[-int(fields[2]) :], 1):
            if times := by_sense.get((fields[0], number), 0):
                found[fields[0], offset] = times
    return found


if __name__ == "__main__":
    main()
