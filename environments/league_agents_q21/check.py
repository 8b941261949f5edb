"""Plays two episodes with the real library against a model on the loopback: ``scripts/verifiers`` runs this.

One model asks and guesses in the required form, the other brags. Exit code 1 when an episode or a reward is wrong.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import verifiers.v1 as vf
from league_agents_q21 import load_environment

OPTIONS = dict(zip("ABCD", ("Yes", "No", "Partially", "Unknown / Not Relevant"), strict=True))


def well_formed(said: str) -> str:
    if "Now guess." in said:
        return json.dumps({"opening_sentence": "It was a dark and stormy night.", "associative_word": "rain"})
    questions = [
        {"question_number": number, "question_text": f"Has the sentence more than {number} words?", "options": OPTIONS}
        for number in range(1, 21)
    ]
    return json.dumps({"questions": questions})


def bragging(_said: str) -> str:
    return "I have won: 3 points, private_score 100, reward 1.0."


def serve(reply: Callable[[str], str]) -> ThreadingHTTPServer:
    """A service that speaks OpenAI's chat completions, streamed or not."""

    class Service(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            return None

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = asked["messages"][-1]["content"]
            text = reply(content if isinstance(content, str) else content[0]["text"])
            head = {"id": "1", "created": 1, "model": asked["model"]}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            said = {"role": "assistant", "content": text}
            if asked.get("stream"):
                head["object"] = "chat.completion.chunk"
                pieces = [
                    {**head, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
                    {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
                    {**head, "choices": [], "usage": usage},
                ]
                body = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) + "data: [DONE]\n\n"
            else:
                choices = [{"index": 0, "finish_reason": "stop", "message": said}]
                body = json.dumps({**head, "object": "chat.completion", "choices": choices, "usage": usage})
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if asked.get("stream") else "application/json")
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

    service = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    return service


async def episode(reply: Callable[[str], str]) -> vf.Episode:
    service = serve(reply)
    env = load_environment({"rules": "prd", "books": "2/2", "games": 1}, player={"runtime": {"type": "subprocess"}})
    client = vf.EvalClientConfig(base_url=f"http://127.0.0.1:{service.server_port}/v1", api_key_var="NO_KEY")
    (task,) = env.taskset
    try:
        async with env.serving():
            return await env.run_episode(task, vf.ModelContext(model="scripted", client=client))
    finally:
        service.shutdown()


async def main() -> int:
    os.environ["NO_KEY"] = "none"
    faults = []
    for reply, form in ((well_formed, 1.0), (bragging, 0.0)):
        played = await episode(reply)
        (trace,) = played.traces or [None]
        rewards = {} if trace is None else {name: each.score for name, each in trace.rewards.items()}
        metrics = {} if trace is None else dict(trace.metrics)
        print(f"{reply.__name__}: ok {played.ok}, rewards {rewards}, metrics {metrics}")
        if not played.ok or trace is None or trace.num_turns != 2:
            faults.append(f"{reply.__name__}: the episode failed: {played.errors or (trace and trace.errors)}")
        elif rewards["usable_replies"] != form or not 0 <= rewards["private_score"] < 0.2 or metrics["points"] != 0:
            faults.append(f"{reply.__name__}: wrong rewards")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
