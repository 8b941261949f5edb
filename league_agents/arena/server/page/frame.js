// What stands around every page: the way home, the skip link, the languages.

import { el, fill } from "./dom.js";
import { LANGUAGES, lang, setLang, t } from "./texts.js";

/** Draw the frame in the language in force. `change`: draw the page anew, in another language. */
export function frame(change) {
  document.documentElement.lang = lang() === "zh" ? "zh-Hans" : "en";
  document.getElementById("skip").textContent = t("skip");
  document.getElementById("brand").textContent = t("arena");
  const languages = document.getElementById("languages");
  languages.setAttribute("aria-label", t("language"));
  fill(
    languages,
    LANGUAGES.map(([code, name]) =>
      el(
        "button",
        { type: "button", lang: code, "aria-pressed": String(code === lang()), class: "language", on: { click: () => chosen(code, change) } },
        name,
      ),
    ),
  );
}

function chosen(code, change) {
  if (code === lang()) return;
  setLang(code);
  frame(change);
  change();
  document.querySelector(`.language[lang=${code}]`)?.focus();
}

/** Let the skip link move to the content without changing the address, which says what is shown. */
export function skipTo(main) {
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
}
