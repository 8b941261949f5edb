// Keeps a page up to date: asks for it again, and puts what changed in the place of the old. It sends nothing.
"use strict";
{
  const every = 2000;
  const status = document.getElementById("live");
  let etag = "";
  const openOnes = (root) => [...root.querySelectorAll("details")].map((each) => each.open);

  const put = (text) => {
    const next = new DOMParser().parseFromString(text, "text/html").getElementById("main");
    const now = document.getElementById("main");
    if (!next || next.innerHTML === now.innerHTML) return false;
    const wereOpen = openOnes(now);
    const scrolled = [...now.querySelectorAll(".scroller")].map((each) => each.scrollLeft);
    const focused = [...now.querySelectorAll("a, summary, [tabindex]")].indexOf(document.activeElement);
    now.replaceChildren(...next.childNodes);
    const details = now.querySelectorAll("details");
    if (details.length === wereOpen.length) details.forEach((each, place) => { each.open = wereOpen[place]; });
    now.querySelectorAll(".scroller").forEach((each, place) => { each.scrollLeft = scrolled[place] ?? 0; });
    if (focused >= 0) now.querySelectorAll("a, summary, [tabindex]")[focused]?.focus({preventScroll: true});
    return true;
  };

  const ask = async () => {
    try {
      const answer = await fetch(location.pathname, {
        cache: "no-store", credentials: "same-origin", headers: etag ? {"if-none-match": etag} : {},
      });
      if (answer.status === 200) {
        etag = answer.headers.get("etag") ?? "";
        if (put(await answer.text())) status.textContent = `Updated at ${new Date().toLocaleTimeString()}.`;
        else if (status.dataset.lost) status.textContent = "Updates by itself.";
        delete status.dataset.lost;
      } else if (answer.status !== 304) {
        throw new Error(String(answer.status));
      } else if (status.dataset.lost) {
        status.textContent = "Updates by itself.";
        delete status.dataset.lost;
      }
    } catch {
      if (!status.dataset.lost) status.textContent = `Not updated since ${new Date().toLocaleTimeString()}: the dashboard does not answer.`;
      status.dataset.lost = "yes";
    }
  };

  const again = async () => {
    if (!document.hidden) await ask();
    setTimeout(again, every);
  };
  document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
  setTimeout(again, every);
}
