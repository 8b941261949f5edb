"""The rules in words, made from the configuration that is in force.

Rule: the text contains neither the target nor the agents' initial guesses.
"""

from __future__ import annotations

from league_agents.games.guess_number.config import ANY_WINS, Config
from league_agents.games.people import LANGUAGES
from league_agents.kit.errors import ConfigError


def rules_text(config: Config, lang: str = "en") -> str:
    """Return the rules as paragraphs. Raises ``ConfigError`` for an unsupported language."""
    if lang not in LANGUAGES:
        raise ConfigError("lang", f"the rules are written in {' and '.join(LANGUAGES)}")
    return "\n\n".join(_chinese(config) if lang == "zh" else _english(config))


def _english(config: Config) -> list[str]:
    last = config.num_choices - 1
    steps = _counted(config.max_steps, "step")
    goal = (
        "You have all won as soon as one of you has guessed it"
        if config.win == ANY_WINS
        else "You have all won as soon as every one of you has guessed it, in whatever step"
    )
    reasoning = (
        "3. Reasoning. Each agent may send one proposal, or pass."
        if config.proposals
        else "3. Reasoning. Nobody is asked for anything in this match."
    )
    heard = (
        "A report's reasoning is heard together with it."
        if config.share_reasoning
        else "A report's reasoning stays between you and the host."
    )
    repeated = (
        "A guess that your own feedback and the reports you heard show to be wrong is refused; choose another."
        if config.reject_known_wrong
        else "Guessing a number again is allowed and costs the step like any other guess."
    )
    paragraphs = [
        (
            f"A secret number from 0 to {last} is to be found by all agents together. {goal}. After {steps} without "
            "that, the game is lost; who has guessed the number by then still scores."
        ),
        (
            "Every step, counted from 0, has four phases:\n"
            "1. Observation. Each agent learns whether its own last guess was right or wrong, never whether it was too "
            "high or low, and nothing of the others.\n"
            "2. Reporting. Every agent, also one that has found the number, sends one state_report: sender (its id), "
            f"type, timestamp (the step) and next_guess (0 to {last}); it may add content (current_guess, is_correct, "
            "guess_history, feedback_history), reasoning and confidence (0 to 1).\n"
            f"{reasoning}\n"
            "4. Action. Every agent that has not found the number guesses, all at once; nobody sees another's guess. "
            "Who does not guess in time guesses what it reported, if it did."
        ),
        (
            f"{heard} {repeated} A proposal has sender, type, timestamp and content, which should hold next_guess; it "
            "may add rationale."
        ),
        "What others write is their claim: the game passes it on and does not check it.",
    ]
    if config.initial_guesses:
        paragraphs.append("Some agents have made a guess before step 0; its answer is in their first observation.")
    return paragraphs


def _chinese(config: Config) -> list[str]:
    last = config.num_choices - 1
    goal = (
        "只要有一名智能体猜中，全体获胜"
        if config.win == ANY_WINS
        else "每名智能体都猜中过一次（不必在同一步），全体获胜"
    )
    reasoning = (
        "3. 推理：每名智能体可以发送一条 proposal，或者 pass。" if config.proposals else "3. 推理：本局不询问任何人。"
    )
    heard = (
        "报告中的 reasoning 会随报告一起被听到。"
        if config.share_reasoning
        else "报告中的 reasoning 只有你和主持人看得到。"
    )
    repeated = (
        "如果你自己的反馈和听到的报告已经表明某个数不对，猜这个数会被拒绝，请另选一个。"
        if config.reject_known_wrong
        else "可以重复猜同一个数，但同样会用掉这一步。"
    )
    paragraphs = [
        (
            f"全体智能体合作找出一个 0 到 {last} 之间的秘密数字。{goal}。{config.max_steps} 步之内没有做到就算失败；"
            "到那时已经猜中的智能体仍然得分。"
        ),
        (
            "步数从 0 开始，每一步有四个阶段：\n"
            "1. 观察：每名智能体得知自己上一次猜得对不对；不会告诉偏大还是偏小，也不会告诉别人的结果。\n"
            "2. 报告：每名智能体（包括已经猜中的）发送一条 state_report：sender（自己的编号）、type、"
            f"timestamp（当前步数）、next_guess（0 到 {last}）；可以附上 content（current_guess、is_correct、"
            "guess_history、feedback_history）、reasoning 和 confidence（0 到 1）。\n"
            f"{reasoning}\n"
            "4. 行动：还没有猜中的智能体同时猜数，互相看不到。没有按时猜的，按它报告的 next_guess 计；没有报告则不计。"
        ),
        (
            f"{heard}{repeated}proposal 要有 sender、type、timestamp 和 content，content 里应当有 next_guess；"
            "可以附上 rationale。"
        ),
        "别人写的内容只是他们的说法：游戏只转达，不核实。",
    ]
    if config.initial_guesses:
        paragraphs.append("有的智能体在第 0 步之前已经猜过一次，结果在它的第一次观察里。")
    return paragraphs


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
