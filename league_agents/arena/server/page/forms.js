// A form for any JSON Schema that a game's actions and configurations use, and the value that it holds.
//
// Rule: a form sends what its schema allows or says what is missing; the server still has the last word. Parts of JSON
// Schema that are not known here are edited as JSON text, so that no game is out of reach.

import { add, announce, el, fill, freshId, plain } from "./dom.js";
import {
  ABSENT,
  booleanField,
  choiceField,
  framed,
  hintFor,
  jsonField,
  labelOf,
  nothing,
  numberField,
  textField,
} from "./fields.js";
import { nameOf, t } from "./texts.js";

const DEEPEST = 8;

/** A form. `hooks`: label(path), hint(path), option(path, value) — each may answer undefined; `keys`: names for maps. */
export class Form {
  constructor(schema, { values, within = "", hooks = {}, keys = [], folded = () => false } = {}) {
    this.fields = new Map();
    this.context = { fields: this.fields, within, hooks, keys, folded };
    this.root = make(schema, { path: "", name: "", required: true, start: values, depth: 0 }, this.context);
    this.summary = el("div", { class: "problems", tabindex: "-1", hidden: true });
    this.node = el("div", { class: "fields" }, this.summary, this.root.node);
  }

  /** {value, errors}: errors are {path, message}, none when the value may be sent. */
  read() {
    const errors = [];
    const value = this.root.read(errors);
    return { value: value === ABSENT ? {} : value, errors };
  }

  /** Show these errors, and take the reader to them. */
  show(errors) {
    this.clear();
    const lost = [];
    for (const { path, message } of errors) {
      const field = this.find(path);
      if (field === null) lost.push(message);
      else field.show(message);
    }
    const first = errors.map(({ path }) => this.find(path)).find((field) => field !== null);
    const told = t("form.problems", { n: errors.length });
    fill(
      this.summary,
      el("p", {}, told),
      lost.length > 0 && el("ul", {}, lost.map((message) => el("li", {}, message))),
    );
    this.summary.hidden = errors.length === 0;
    if (errors.length === 0) return;
    announce([told, ...errors.slice(0, 3).map(({ message }) => message)].join(" "), true);
    if (first) first.focus();
    else this.summary.focus();
  }

  clear() {
    this.summary.hidden = true;
    for (const field of this.fields.values()) field.show("");
  }

  /** The field of a JSON pointer, or the nearest one around it. */
  find(path) {
    for (let at = String(path ?? ""); at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
      if (this.fields.has(at)) return this.fields.get(at);
      if (!at.includes("/")) break;
    }
    return null;
  }

  focus() {
    this.node.querySelector("input:not([type=hidden]), select, textarea")?.focus();
  }

  /** What is typed and chosen, in the order of the controls. */
  snapshot() {
    return this.controls().map((each) => (each.type === "radio" || each.type === "checkbox" ? each.checked : each.value));
  }

  restore(values) {
    const controls = this.controls();
    if (!Array.isArray(values) || values.length !== controls.length) return;
    controls.forEach((control, place) => {
      const kept = values[place];
      if (typeof kept === "boolean") control.checked = kept;
      else control.value = String(kept);
      control.dispatchEvent(new Event("input", { bubbles: true }));
    });
  }

  controls() {
    return [...this.node.querySelectorAll("input, select, textarea")];
  }
}

function make(schema, at, context) {
  if (schema === true || schema === null || typeof schema !== "object") return jsonField({}, at, context);
  if ("const" in schema) return { node: null, read: () => schema.const, isHidden: true };
  if (Array.isArray(schema.enum)) return choiceField(schema, schema.enum, at, context);
  for (const several of ["anyOf", "oneOf"]) {
    if (Array.isArray(schema[several]) && schema[several].length > 0) return oneOf(schema, schema[several], at, context);
  }
  if (at.depth > DEEPEST) return jsonField(schema, at, context);
  const types = [schema.type ?? (schema.properties ? "object" : undefined)].flat();
  const real = types.filter((each) => each !== "null");
  if (real.length === 0) return types.length > 0 ? { node: null, read: () => null, isHidden: true } : jsonField(schema, at, context);
  // "Something or null": leaving it empty says null.
  const inner = { ...schema, type: real[0] };
  const place = types.includes("null") ? { ...at, nullable: true } : at;
  if (real.length > 1) return oneOf(schema, real.map((type) => ({ ...schema, type })), place, context);
  if (real[0] === "object") return objectField(inner, place, context);
  if (real[0] === "array") return arrayField(inner, place, context);
  if (real[0] === "boolean") return booleanField(inner, place, context);
  if (real[0] === "integer" || real[0] === "number") return numberField(inner, place, context);
  if (real[0] === "string") return textField(inner, place, context);
  return jsonField(schema, place, context);
}

/** Whether there is nothing to choose in it. */
function isFixed(schema) {
  if (schema === null || typeof schema !== "object") return false;
  if ("const" in schema) return true;
  const properties = Object.values(schema.properties ?? {});
  return properties.length > 0 && properties.every(isFixed);
}

function objectField(schema, at, context) {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) {
    const each = schema.additionalProperties;
    if (each && typeof each === "object" && context.keys.length > 0) return mapField(schema, each, at, context);
    return at.depth === 0 ? { node: el("div"), read: () => ({}) } : jsonField(schema, at, context);
  }
  const required = new Set(schema.required ?? []);
  // An entry of a list with one thing to fill in is called what the entry is called.
  const isSingle = at.isItem && properties.filter(([, rule]) => !isFixed(rule)).length === 1;
  const parts = properties.map(([name, rule]) => {
    const isRequired = required.has(name);
    const field = make(
      rule,
      {
        path: `${at.path}/${pointed(name)}`,
        name,
        required: isRequired || (rule?.default !== undefined && rule.default !== null && rule.type !== "string"),
        start: at.start?.[name],
        depth: at.depth + 1,
        isCompact: at.isCompact,
        isPlain: at.isPlain,
        ...(isSingle ? { label: at.label, mark: at.mark, isQuiet: true, isSingle } : {}),
      },
      context,
    );
    return { name, rule, isRequired, field };
  });
  const seen = parts.filter(({ field }) => field.node !== null);
  const isFolded = ({ name, rule, isRequired }) => {
    const own = context.folded(name);
    return own === true || (!isRequired && own !== null && [rule?.type].flat().some((type) => type === "object" || type === "array"));
  };
  const open = seen.filter((part) => !isFolded(part)).map(({ field }) => field.node);
  const folded = seen.filter(isFolded).map(({ field }) => field.node);
  const inside = [
    ...open,
    folded.length > 0 && el("details", { class: "more" }, el("summary", {}, t("form.more")), el("div", { class: "fields" }, folded)),
  ];
  const isBare = at.depth === 0 || seen.length < 2 || at.isItem;
  const node =
    seen.length === 0
      ? null
      : isBare
        ? el("div", { class: "fields" }, inside)
        : framed(el("div", { class: "fields" }, inside), schema, at, context, { group: true, hint: hintFor(schema, at, context) });
  return {
    node: node ?? (at.depth === 0 ? el("div") : null),
    isHidden: seen.length === 0,
    inputs: parts.map(({ field }) => field.input).filter(Boolean),
    read: (errors) => {
      const found = {};
      let holds = false;
      const own = [];
      for (const { name, field } of parts) {
        const value = field.read(own);
        if (value === ABSENT) continue;
        found[name] = value;
        if (!field.isHidden) holds = true;
      }
      // An optional group that nobody touched is not there, whatever it would need.
      if ((!at.required || at.nullable) && !holds) return nothing(at);
      errors.push(...own);
      return found;
    },
  };
}

/** An object whose keys are the seats. */
function mapField(schema, rule, at, context) {
  const parts = context.keys.map((key) => ({
    key,
    field: make(
      rule,
      { path: `${at.path}/${pointed(key)}`, name: key, label: key, required: false, start: at.start?.[key], depth: at.depth + 1, isQuiet: true },
      context,
    ),
  }));
  const box = el("div", { class: "fields" }, parts.map(({ field }) => field.node));
  return {
    node: framed(box, schema, at, context, { group: true, hint: hintFor(schema, at, context) }),
    read: (errors) => {
      const found = {};
      for (const { key, field } of parts) {
        const value = field.read(errors);
        if (value !== ABSENT) found[key] = value;
      }
      return Object.keys(found).length === 0 && !at.required ? nothing(at) : found;
    },
  };
}

function arrayField(schema, at, context) {
  const fixed = Array.isArray(schema.prefixItems)
    ? schema.prefixItems
    : schema.items && schema.minItems !== undefined && schema.minItems === schema.maxItems && schema.minItems <= 64
      ? Array.from({ length: schema.minItems }, () => schema.items)
      : null;
  if (fixed !== null) return tupleField(schema, fixed, at, context);
  if (schema.items && typeof schema.items === "object") return listField(schema, at, context);
  return jsonField(schema, at, context);
}

function tupleField(schema, rules, at, context) {
  const start = Array.isArray(at.start) ? at.start : Array.isArray(schema.default) ? schema.default : [];
  const isOptional = !at.required || at.nullable;
  const fields = rules.map((rule, place) =>
    make(
      rule,
      {
        path: `${at.path}/${place}`,
        name: String(place + 1),
        label: context.hooks.label?.(`${at.path}/${place}`) ?? `${at.label ?? nameOf(at.name, context.within)} ${place + 1}`,
        mark: `${place + 1}`,
        required: !isOptional,
        isQuiet: true,
        start: start[place],
        depth: at.depth + 1,
        isCompact: true,
        isPlain: rules.length <= 3,
        isItem: true,
      },
      context,
    ),
  );
  const seen = fields.filter((field) => field.node !== null);
  const box = el("ol", { class: seen.length > 3 ? "items" : "items row" }, seen.map((field) => el("li", {}, field.node)));
  const lines = fields.flatMap((field) => (field.input ? [field.input] : (field.inputs ?? [])));
  const extra = lines.length > 3 ? el("p", { class: "hint" }, t("form.paste")) : null;
  if (lines.length > 3) spreadPastedLines(lines);
  return {
    node: framed(add(el("div"), [extra, box]), schema, at, context, { group: true, hint: hintFor(schema, at, context) }),
    read: (errors) => {
      const own = [];
      const found = fields.map((field) => field.read(own)).map((value) => (value === ABSENT ? null : value));
      if (isOptional && found.every((value) => value === null)) return nothing(at);
      if (isOptional) {
        found.forEach((value, place) => {
          if (value === null) own.push({ path: `${at.path}/${place}`, message: t("form.wanted") });
        });
      }
      errors.push(...own);
      return found;
    },
  };
}

function spreadPastedLines(inputs) {
  inputs.forEach((input, place) => {
    input.addEventListener("paste", (event) => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      const lines = text.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== "");
      if (lines.length < 2) return;
      event.preventDefault();
      lines.slice(0, inputs.length - place).forEach((line, offset) => {
        const target = inputs[place + offset];
        // The numbers of a numbered list are not part of its lines.
        target.value = line.replace(/^\(?\d{1,2}[.):、]\s*/, "");
        target.dispatchEvent(new Event("input", { bubbles: true }));
      });
      inputs[Math.min(place + lines.length, inputs.length) - 1].focus();
    });
  });
}

function listField(schema, at, context) {
  const most = Math.min(schema.maxItems ?? 100, 500);
  const rows = [];
  const list = el("ol", { class: "items" });
  const more = el("button", { type: "button", class: "quiet", on: { click: () => grow().focus() } }, t("form.add"));
  let serial = 0;
  function grow(start) {
    const path = `${at.path}/${serial}`;
    const field = make(
      schema.items,
      { path, name: String(serial + 1), label: `${nameOf(at.name, context.within)} ${serial + 1}`, mark: String(serial + 1), required: true, isQuiet: true, start, depth: at.depth + 1, isCompact: true, isPlain: true, isItem: true },
      context,
    );
    serial += 1;
    const remove = el("button", { type: "button", class: "quiet small", "aria-label": t("form.remove", { n: serial }) }, "×");
    const row = { field, node: el("li", { class: "removable" }, field.node, remove) };
    remove.addEventListener("click", () => {
      rows.splice(rows.indexOf(row), 1);
      row.node.remove();
      more.disabled = false;
      more.focus();
    });
    rows.push(row);
    list.append(row.node);
    more.disabled = rows.length >= most;
    return row.node.querySelector("input, select, textarea") ?? more;
  }
  for (const each of Array.isArray(at.start) ? at.start : []) grow(each);
  return {
    node: framed(el("div", {}, list, more), schema, at, context, { group: true, hint: hintFor(schema, at, context) }),
    read: (errors) => {
      if (rows.length === 0 && (!at.required || at.nullable)) return nothing(at);
      const least = schema.minItems ?? 0;
      if (rows.length < least) errors.push({ path: at.path, message: t("form.few", { n: least }) });
      return rows.map(({ field }) => field.read(errors)).map((value) => (value === ABSENT ? null : value));
    },
  };
}

function oneOf(schema, several, at, context) {
  const isNull = (each) => each?.type === "null" || each?.const === null;
  const real = several.filter((each) => !isNull(each));
  const place = real.length < several.length ? { ...at, nullable: true } : at;
  if (real.length === 1) {
    // Its own description and default hold for what is left of it.
    const { anyOf, oneOf: _, ...rest } = schema;
    return make({ ...rest, ...real[0] }, place, context);
  }
  const select = el(
    "select",
    {},
    place.nullable || !at.required ? el("option", { value: "" }, t("form.none")) : null,
    real.map((each, number) => el("option", { value: String(number) }, plain(each?.title ?? each?.description ?? each?.type ?? String(number + 1)))),
  );
  const inside = el("div", { class: "fields" });
  let chosen = null;
  const choose = () => {
    for (const path of [...context.fields.keys()]) {
      if (path.startsWith(`${at.path}/`) || path === `${at.path}//`) context.fields.delete(path);
    }
    chosen = select.value === "" ? null : make(real[Number(select.value)], { ...at, path: `${at.path}`, required: true, depth: at.depth + 1, label: nameOf(at.name, context.within) }, context);
    fill(inside, chosen?.node);
  };
  select.addEventListener("input", choose);
  const node = el("div", { class: "variants" });
  const id = freshId("which");
  select.id = id;
  node.append(el("div", { class: "field" }, el("label", { for: id }, `${labelOf(schema, at, context)}: ${t("form.which")}`), select), inside);
  choose();
  return {
    node,
    read: (errors) => (chosen === null ? (place.nullable && at.required ? null : ABSENT) : chosen.read(errors)),
  };
}

function pointed(name) {
  return String(name).replaceAll("~", "~0").replaceAll("/", "~1");
}

/** What differs from the defaults of a configuration's schema. */
export function withoutDefaults(value, schema) {
  const found = {};
  for (const [name, each] of Object.entries(value)) {
    const usual = schema.properties?.[name]?.default;
    if (each === null && (usual === null || usual === undefined)) continue;
    if (JSON.stringify(each) !== JSON.stringify(usual)) found[name] = each;
  }
  return found;
}
