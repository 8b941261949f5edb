// What fields and actions are called: [English, Chinese] of the name, then of a hint where one is needed.

export const NAMES = {
  "action.guess": ["Guess", "猜测"],

  reasoning: ["Your reasoning", "你的推理"],
  rationale: ["Why", "理由"],
  confidence: ["How sure you are, 0 to 1", "把握，0 到 1"],

  max_rounds: ["Rounds at most", "最多轮数"],
};
