"""The lines that describe events to people, in the match's language.

Rule: a line contains only its event's data, and an agent's own words in it are cut to one short line.
"""

from __future__ import annotations

from typing import Final

from league_agents.kit.printable import printable

MOST_WORDS: Final = 200
"""Characters of an agent's own words in a line; the event's data contain all of them."""

_LINES: Final[dict[str, dict[str, str]]] = {
    "en": {
        "phase": "Step {step}: {phase}",
        "observation_none": "Step {step}: no guess of yours to judge",
        "observation_right": "Step {step}: your guess {guess} is right",
        "observation_wrong": "Step {step}: your guess {guess} is wrong",
        "state_report": "{agent} means to guess {guess}",
        "reasoning": "{agent}'s private reasoning",
        "report_missing": "{agent} sends no report ({cause})",
        "proposal": "{agent} proposes {guess}",
        "proposal_open": "{agent} proposes",
        "pass": "{agent} proposes nothing",
        "pass_cause": "{agent} proposes nothing ({cause})",
        "guess": "{agent} guesses {guess}",
        "guess_missing": "{agent} makes no guess ({cause})",
        "guess_fallback": "{agent} makes no guess ({cause}); the reported {guess} counts",
        "guess_right": "{agent} guesses {guess}: right",
        "guess_wrong": "{agent} guesses {guess}: wrong",
        "guesses_none": "nobody guesses",
        "success": "The number was {target}: found after {steps}",
        "failure": "The number was {target}: not found in {steps}",
        "failure_of_some": "The number was {target}: after {steps} found by {found}, not by {missing}",
        "one_step": "1 step",
        "steps": "{steps} steps",
        "join": "; ",
        "join_names": ", ",
        "words": "{line}: {words}",
    },
    "zh": {
        "phase": "第 {step} 步：{phase}",
        "observation_none": "第 {step} 步：你没有待判定的猜测",
        "observation_right": "第 {step} 步：你猜的 {guess} 是对的",
        "observation_wrong": "第 {step} 步：你猜的 {guess} 不对",
        "state_report": "{agent} 打算猜 {guess}",
        "reasoning": "{agent} 的私下推理",
        "report_missing": "{agent} 没有提交报告（{cause}）",
        "proposal": "{agent} 建议猜 {guess}",
        "proposal_open": "{agent} 提出建议",
        "pass": "{agent} 不提建议",
        "pass_cause": "{agent} 不提建议（{cause}）",
        "guess": "{agent} 猜 {guess}",
        "guess_missing": "{agent} 没有猜（{cause}）",
        "guess_fallback": "{agent} 没有猜（{cause}），按报告的 {guess} 计",
        "guess_right": "{agent} 猜 {guess}：对",
        "guess_wrong": "{agent} 猜 {guess}：不对",
        "guesses_none": "没有人猜",
        "success": "答案是 {target}：用 {steps}找到",
        "failure": "答案是 {target}：{steps}内没有找到",
        "failure_of_some": "答案是 {target}：{steps}后 {found} 找到了，{missing} 没有找到",
        "one_step": "1 步",
        "steps": "{steps} 步",
        "join": "；",
        "join_names": "、",
        "words": "{line}：{words}",
    },
}
_PHASES: Final[dict[str, dict[str, str]]] = {
    "en": {},
    "zh": {"observation": "观察", "reporting": "报告", "reasoning": "推理", "action": "行动"},
}


def line(lang: str, name: str, **values: object) -> str:
    """Return the line ``name`` with ``values`` filled in."""
    return _LINES[lang][name].format(**values)


def phase_line(lang: str, step: int, phase: str) -> str:
    return line(lang, "phase", step=step, phase=_PHASES[lang].get(phase, phase))


def with_words(lang: str, told: str, words: object) -> str:
    """Return a line followed by the agent's own words; unchanged if there are none."""
    if not isinstance(words, str) or not words:
        return told
    return line(lang, "words", line=told, words=printable(words[: 2 * MOST_WORDS], MOST_WORDS))
