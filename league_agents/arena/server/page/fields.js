// The fields of a form that hold one value: a choice, a number, a text, and JSON where nothing else fits.
//
// A field is {node, read(errors), …}: `read` gives its value or `ABSENT`, and adds {path, message} for what is wrong.
// `at` says where the field stands: path, name, required, nullable, start (its first value), and how it is to look.

import { el, freshId, plain } from "./dom.js";
import { choiceName, hintOf, isNamed, nameOf, t } from "./texts.js";

export const ABSENT = Symbol("absent");
const MOST_BUTTONS = 20;
const SHORT_TEXT = 120;

export function labelOf(schema, at, context) {
  const told = context.hooks.label?.(at.path);
  if (told !== undefined) return told;
  if (at.label !== undefined) return at.label;
  if (isNamed(at.name, context.within)) return nameOf(at.name, context.within);
  // A name made of digits says nothing; the description does.
  return /^\d*$/.test(at.name) && schema.description ? schema.description : nameOf(at.name, context.within);
}

export function hintFor(schema, at, context, ...more) {
  if (at.isSingle) return more.filter((each) => each).join(" ");
  const told = context.hooks.hint?.(at.path);
  const known = told !== undefined ? told : hintOf(at.name, context.within);
  const own = isNamed(at.name, context.within) || /^\d*$/.test(at.name) ? null : schema.description;
  return [known ?? own, ...more].filter((each) => each).join(" ");
}

/** What a single field and a group have in common: label, hint, error. */
export function framed(control, schema, at, context, { group = false, hint = "", extra = null, inline = false } = {}) {
  const errorId = freshId("error");
  const hintId = freshId("hint");
  const error = el("p", { class: "error", id: errorId, hidden: true });
  const told = hint === "" ? null : el("p", { class: "hint", id: hintId }, hint);
  const targets = group ? [] : [control];
  const label = labelOf(schema, at, context);
  const mark = (at.required && !at.nullable) || at.isQuiet || group ? null : el("span", { class: "optional" }, ` (${t("form.optional")})`);
  let node;
  if (group) {
    node = el(
      "fieldset",
      { class: "field", "aria-describedby": [told && hintId, errorId].filter(Boolean).join(" ") },
      el("legend", {}, label, mark),
      told,
      control,
      extra,
      error,
    );
  } else {
    control.id ||= freshId("field");
    control.setAttribute("aria-describedby", [told && hintId, errorId].filter(Boolean).join(" "));
    if (at.required && !at.nullable) control.setAttribute("aria-required", "true");
    const isMarked = at.mark !== undefined && context.hooks.label?.(at.path) === undefined && !inline;
    const name = isMarked
      ? el("label", { for: control.id }, el("span", { "aria-hidden": "true" }, at.mark), el("span", { class: "unseen" }, label))
      : el("label", { for: control.id }, label, mark);
    node = isMarked
      ? el("div", { class: "field marked" }, name, el("div", {}, control, told, extra, error))
      : inline
        ? el("div", { class: "field inline" }, control, el("div", {}, name, told), error)
        : el("div", { class: "field" }, name, told, control, extra, error);
  }
  const show = (message) => {
    error.textContent = message;
    error.hidden = message === "";
    for (const target of targets) {
      if (message === "") target.removeAttribute("aria-invalid");
      else target.setAttribute("aria-invalid", "true");
    }
    node.classList.toggle("wrong", message !== "");
  };
  const focus = () => {
    for (let outer = node.parentElement; outer; outer = outer.parentElement) {
      if (outer.tagName === "DETAILS") outer.open = true;
    }
    (group ? node.querySelector("input, select, textarea, button") : control)?.focus();
  };
  context.fields.set(at.path, { show, focus, node });
  return node;
}

export function nothing(at) {
  return at.nullable && at.required ? null : ABSENT;
}

export function choiceField(schema, listed, at, context) {
  const values = at.nullable && !listed.includes(null) ? [...listed, null] : listed;
  const start = at.start !== undefined ? at.start : at.required && schema.default !== undefined ? schema.default : undefined;
  const told = (value) => {
    const own = context.hooks.option?.(at.path, value);
    if (own !== undefined) return own;
    if (value === null) return t("form.none");
    if (typeof value === "boolean") return t(value ? "form.yes" : "form.no");
    if (typeof value !== "string") return plain(JSON.stringify(value));
    return choiceName(at.name, value) ?? plain(value);
  };
  if (values.length > MOST_BUTTONS) {
    const select = el("select", {}, el("option", { value: "" }, "–"));
    values.forEach((value, place) => {
      select.append(el("option", { value: String(place), ...(value === start ? { selected: true } : {}) }, told(value)));
    });
    return {
      node: framed(select, schema, at, context, { hint: hintFor(schema, at, context) }),
      read: (errors) => {
        if (select.value !== "") return values[Number(select.value)];
        if (at.required) errors.push({ path: at.path, message: t("form.choose") });
        return ABSENT;
      },
    };
  }
  const group = freshId("choice");
  const shown = at.required || start !== undefined ? values : [undefined, ...values];
  const inputs = shown.map((value) =>
    el("input", { type: "radio", name: group, id: freshId("radio"), ...(value === start ? { checked: true } : {}) }),
  );
  const chips = shown.map((value, place) =>
    el(
      "label",
      { class: "chip", for: inputs[place].id },
      inputs[place],
      el("span", {}, value === undefined ? t("form.none") : told(value)),
    ),
  );
  const box = el("div", { class: values.every((each) => typeof each === "number") ? "chips numbers" : "chips" }, chips);
  return {
    node: framed(box, schema, at, context, { group: true, hint: hintFor(schema, at, context) }),
    read: (errors) => {
      const place = inputs.findIndex((input) => input.checked);
      if (place >= 0) return shown[place] === undefined ? ABSENT : shown[place];
      if (at.required) errors.push({ path: at.path, message: t("form.choose") });
      return ABSENT;
    },
  };
}

export function booleanField(schema, at, context) {
  const start = at.start !== undefined ? at.start : schema.default;
  if ((!at.required && start === undefined) || at.nullable) return choiceField({ ...schema, enum: [true, false] }, [true, false], at, context);
  const input = el("input", { type: "checkbox", checked: start === true });
  return {
    node: framed(input, schema, { ...at, isQuiet: true }, context, { inline: true, hint: hintFor(schema, at, context) }),
    read: () => input.checked,
  };
}

export function numberField(schema, at, context) {
  const isWhole = schema.type === "integer";
  const { minimum: least, maximum: most } = schema;
  if (isWhole && at.required && least !== undefined && most !== undefined && most - least < MOST_BUTTONS && !at.isPlain) {
    const values = Array.from({ length: most - least + 1 }, (_, place) => least + place);
    return choiceField(schema, values, at, context);
  }
  const input = el("input", {
    type: "number",
    min: least,
    max: most,
    step: isWhole ? 1 : "any",
    inputmode: isWhole ? "numeric" : "decimal",
    autocomplete: "off",
  });
  const start = at.start !== undefined ? at.start : schema.default;
  if (typeof start === "number") input.value = String(start);
  const range = least !== undefined && most !== undefined ? t("form.range", { least, most }) : "";
  const faults = (errors, message) => {
    errors.push({ path: at.path, message });
    return ABSENT;
  };
  return {
    node: framed(input, schema, at, context, { hint: hintFor(schema, at, context, range && `${range}.`) }),
    read: (errors) => {
      if (input.value.trim() === "") {
        if (input.validity.badInput) return faults(errors, t(isWhole ? "form.whole" : "form.number"));
        if (at.required && !at.nullable) return faults(errors, t("form.wanted"));
        return nothing(at);
      }
      const value = Number(input.value);
      if (!Number.isFinite(value)) return faults(errors, t("form.number"));
      if (isWhole && !Number.isInteger(value)) return faults(errors, t("form.whole"));
      if (least !== undefined && value < least) return faults(errors, t("form.least", { n: least }));
      if (most !== undefined && value > most) return faults(errors, t("form.most", { n: most }));
      return value;
    },
  };
}

/** Characters as the server counts them: not the halves of those outside the first plane. */
function lengthOf(text) {
  return [...text].length;
}

/** Words as q21 counts them: what stands between white space and holds a letter or a digit. */
export function wordsOf(text) {
  return text.split(/\s+/).filter((each) => /[\p{L}\p{N}]/u.test(each)).length;
}

export function textField(schema, at, context) {
  const most = schema.maxLength;
  const isShort = at.isCompact || (most !== undefined && most <= SHORT_TEXT) || context.hooks.single?.(at.path);
  const common = { autocomplete: "off", dir: "auto", maxlength: most === undefined ? undefined : 2 * most };
  const input = isShort ? el("input", { type: "text", ...common }) : el("textarea", { rows: "2", ...common });
  const start = at.start !== undefined ? at.start : schema.default;
  if (typeof start === "string") input.value = start;
  const counter = el("span", { class: "counter", "aria-hidden": "true" });
  const hasWords = context.hooks.words?.(at.path);
  const count = () => {
    const n = lengthOf(input.value.normalize("NFC"));
    counter.textContent = hasWords ? t("form.words", { n: wordsOf(input.value) }) : most === undefined ? "" : t("form.count", { n, most });
    counter.classList.toggle("over", most !== undefined && n > most);
    if (input.tagName === "TEXTAREA" && input.scrollHeight > input.clientHeight) {
      input.rows = Math.min(12, input.rows + 1);
    }
  };
  input.addEventListener("input", count);
  count();
  return {
    node: framed(input, schema, at, context, {
      hint: hintFor(schema, at, context),
      extra: most === undefined || at.isCompact || isShort ? null : counter,
    }),
    input,
    read: (errors) => {
      const value = input.value.normalize("NFC");
      const n = lengthOf(value);
      const least = schema.minLength ?? 0;
      if (n === 0 && (!at.required || at.nullable)) return nothing(at);
      if (n === 0 && least > 0) errors.push({ path: at.path, message: t("form.wanted") });
      else if (n < least) errors.push({ path: at.path, message: t("form.short", { n: least }) });
      else if (most !== undefined && n > most) errors.push({ path: at.path, message: t("form.long", { n: most }) });
      else if (schema.pattern !== undefined && !fits(schema.pattern, value)) {
        errors.push({ path: at.path, message: t("form.pattern") });
      }
      return value;
    },
  };
}

function fits(pattern, value) {
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}

export function jsonField(schema, at, context) {
  const input = el("textarea", { rows: "3", spellcheck: "false", class: "code", autocomplete: "off" });
  if (at.start !== undefined) input.value = JSON.stringify(at.start);
  return {
    node: framed(input, schema, at, context, { hint: hintFor(schema, at, context, "JSON.") }),
    read: (errors) => {
      if (input.value.trim() === "") {
        if (at.required && !at.nullable) errors.push({ path: at.path, message: t("form.wanted") });
        return nothing(at);
      }
      try {
        return JSON.parse(input.value);
      } catch {
        errors.push({ path: at.path, message: t("form.json") });
        return ABSENT;
      }
    },
  };
}
