"""Where sentences end, row by row: each row is a text in which | marks the end of the first sentence."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from league_agents.knowledge.sentences import opening_sentence, split_sentences


@pytest.mark.parametrize(
    "marked",
    [
        # plain
        "Call me Ishmael.| Some years ago I went to sea.",
        "It was a bright cold day!| Nobody came.",
        "No full stop at all|",
        "One.Two is not two sentences.| Three.",
        # a dash after the mark, with or without spaces: two editions of one text have the same sentences
        "Was it a change?--It was true that she had gone.| He rose.",
        "Was it a change? - It was true that she had gone.| He rose.",
        "Was it a change? – It was true that she had gone.| He rose.",
        "Was it a change? — It was true that she had gone.| He rose.",
        "—Ven aquí.| —No quiero.",
        # an apostrophe closes no quotation
        "‘Unpleasant!’ cried Maria: ‘oh dear!| It is one’s favourite seat.",
        "He said: ‘Go! It’s late!’ and left.| They went.",
        # abbreviations, initials, numbers
        "Mr. and Mrs. Smith met Dr. Jekyll in St. Albans.| They talked.",
        "It holds for vowels, e.g. A and E, i.e. The Five.| It fails for Y.",
        "See No. 7 and Vol. II of the set.| They are rare.",
        "No.| I must go.",
        "No.| They must get just as near the water as they can.",
        "J. R. Smith wrote to W. E. B. Du Bois.| He got a reply.",
        "It was I.| The door was shut.",
        "The U.S. Senate sat until 3 p.m. on Monday.| Then it rose.",
        "He lived in the U.S.| The house is gone.",
        "They sold hats, gloves, etc.| The shop was full.",
        "Pi is 3.14 or so.| It never ends.",
        "We moved to version 2.0.| Others did not.",
        "1. The first rule is short.| It is kept.",
        "IV. Of Truth and its friends.| What is truth?",
        "Capt. J. Smith, R.N. and Lt. Jones sailed.| They sank.",
        "Written on Dec. 11th at St. Petersburgh.| You will rejoice.",
        "Der Brief kam am 3. Mai an.| Niemand las ihn.",
        "John Brown Jr. came.| He sat.",
        # ellipses
        "I... I do not know.| Ask her.",
        "He waited…| Nothing came.",
        "He waited . . . and waited.| Nothing came.",
        "...and then there was light.| It was good.",
        "Well ... perhaps.| Or not.",
        # dialogue
        '"What?" said he.| She smiled.',
        '"What?" Mr. Bennet asked.| She smiled.',
        '"What?"| He turned to the door.',
        '"What!" I cried.| Nobody heard.',
        '"But it is," returned she; "for Mrs. Long has been here, and told me all about it."| Mr. Bennet was silent.',
        "“Tom!”| No answer.",
        "“Is it ‘Tom!’ you want?” asked she.| “Yes.”",
        "“He said, ‘Go home.’”| They went.",
        "'Well, Prince, so Genoa and Lucca are now family estates.| But I warn you.'",
        "«Was ist das?» fragte er.| Niemand sprach.",
        "»Was ist das?« fragte er.| Niemand sprach.",
        "« Oui ! » dit-il.| Puis il sortit.",
        "« Non. »| Il sortit.",
        "¿Qué quieres?| ¡Nada!",
        '"Never!"--the word rang out.| All stood.',
        "Oh! what a noble mind is here undone.| Alas.",
        'The parrot kept crying: "Away! Away! That is all right!"| No one came.',
        "He wrote: “All is well. Come soon.” and signed.| She read it.",
        'He said, "I am here.| You are there." Then he left.',
        "3 May. Left Munich in the evening.| The train was late.",
        "It was May.| The lilac was out.",
        "Now, what I want is, Facts.| Teach these boys.",
        # parentheses, footnotes, emphasis
        "He came (it was late. It was dark.) and sat.| She left.",
        "(He came late.)| She left.",
        "The claim is old.[12]| It is false.",
        "_She_ was late, and _he_ was _not._| Nobody minded.",
        # verse
        "Tell me not, in mournful numbers,\nLife is but an empty dream!|\nFor the soul is dead that slumbers,",
        "'Is there anybody there?'\nSaid the Traveller,\nKnocking on the moonlit door;|",
        # Hebrew
        'ד"ר לוי וצה"ל נפגשו בארה"ב.| הם דיברו.',
        "פרופ' כהן בא.| הוא ישב.",
        "א. ב. יהושע כתב ספר.| הוא נקרא.",
        '"מה?" אמר האיש.| הוא הלך.',
        "בְּרֵאשִׁית בָּרָא אֱלֹהִים׃| וְהָאָרֶץ הָיְתָה תֹהוּ׃",
        # Chinese
        "道可道，非常道。|名可名，非常名。",
        "「走吧！」他說。|大家都走了。",
        "「走吧！」|大家都走了。",
        "他說：「走吧。」|大家都走了。",
        "你是誰？|我不知道！",
        # other scripts
        "هل أنت هنا؟| نعم.",
    ],
)
def test_the_opening_sentence_ends_where_a_reader_would_end_it(marked: str) -> None:
    first = marked.split("|", maxsplit=1)[0]
    assert opening_sentence(marked.replace("|", "")) == re.sub(r"\s+", " ", first)


def test_white_space_is_folded_in_an_opening_sentence_and_kept_in_a_split() -> None:
    text = "It was\n   the best of times.  It was\nthe worst."
    assert opening_sentence(text) == "It was the best of times."
    assert split_sentences(text) == ["It was\n   the best of times.", "It was\nthe worst."]


def test_a_blank_line_ends_a_sentence_without_a_full_stop() -> None:
    assert split_sentences("A heading\n\nA sentence. And one more.") == ["A heading", "A sentence.", "And one more."]


@pytest.mark.parametrize("nothing", ["", "   ", "\n\n\n"])
def test_nothing_has_no_sentences(nothing: str) -> None:
    assert split_sentences(nothing) == []
    assert opening_sentence(nothing) == ""


@given(st.text(alphabet="aB 1.!?…\"”“'’()«»[]_\nא。」「走說I", max_size=200))
def test_a_split_loses_and_adds_nothing_but_white_space(text: str) -> None:
    squeezed = re.sub(r"\s", "", text)
    assert re.sub(r"\s", "", "".join(split_sentences(text))) == squeezed
    assert re.sub(r"\s", "", opening_sentence(text)) == squeezed[: len(re.sub(r"\s", "", opening_sentence(text)))]


@pytest.mark.parametrize(
    "unit", [". ", "a. ", "! \n", '?" ', "( ", "...", "a.", ". " + " " * 200, "»", "I. ", "\n \n", "a"]
)
def test_hostile_repetition_costs_time_in_proportion_to_its_length(unit: str) -> None:
    """Sixteen times the text takes about sixteen times the computing; a quadratic search takes 256 times as much. The
    two are measured side by side, so that no machine is too slow for it."""

    def computing_s(length: int) -> float:
        text = (unit * length)[:length]
        began_s = time.process_time()
        split_sentences(text)
        return time.process_time() - began_s

    assert any(computing_s(160_000) < 64 * computing_s(10_000) for _ in range(5))
