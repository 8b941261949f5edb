// Transcripts as files. The file's name says whose view it is.

import { el } from "./dom.js";
import { t } from "./texts.js";
import { ask, why } from "./wire.js";

/** Save a transcript. `view`: `full`, `own` with the token of a seat, or `public`. A failure is told in `notice`. */
export async function download(button, matchId, view, token, notice) {
  button.disabled = true;
  try {
    let found = view;
    let text;
    try {
      text = await transcript(matchId, view, token);
    } catch (refused) {
      // Roles that stay secret leave everybody with what he saw.
      if (refused.code !== "kept_secret") throw refused;
      found = "own";
      text = await transcript(matchId, found, token);
    }
    const { viewer } = JSON.parse(text.slice(0, text.indexOf("\n")));
    const address = URL.createObjectURL(new Blob([text], { type: "application/x-ndjson" }));
    const link = el("a", { href: address, download: `${matchId}.${found === "full" ? "full" : viewer}.jsonl` });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  } catch (refused) {
    notice.textContent = t("transcript.failed", { why: why(refused) });
    notice.hidden = false;
  }
  button.disabled = false;
}

/** The text of a transcript. */
export function transcript(matchId, view, token) {
  const path = `/matches/${encodeURIComponent(matchId)}/transcript?view=${view}`;
  return ask("GET", path, { token, as: "text" });
}
