import { findNearestWord } from '@mutirao/core/shared';

/** Words with braces around them, unless a dollar stands before: that is a variable of the shell. */
const bracedName = /(?<![${])(\{+)([^{}\n]+)(\}+)/g;

/** A name in braces that does not name a parameter. */
export interface UnknownName {
  readonly name: string;
  readonly nearest: string | undefined;
}

/** A text for the broker, or what is wrong with it. */
export type NamedTemplate = { readonly template: string } | { readonly unknown: UnknownName };

/**
 * Turns `{name}` into what a broker takes for the parameter of that name, `{=name}`.
 *
 * `{{name}}` is the text `{name}`, and `${name}` stays: it is a variable of the shell. So do braces that cannot mean a
 * name, such as `{print $1}` and `{2}`. If there is only one parameter, it is the value of the task, `{}`.
 */
export function nameParameters(text: string, names: readonly string[]): NamedTemplate {
  let unknown: UnknownName | undefined;
  const template = text.replace(bracedName, (whole, open: string, name: string, close: string) => {
    if (!names.includes(name) && !looksLikeName(name, names)) return whole;
    const inside = open.length > 1 && close.length > 1 ? name : getSymbol(name, names);
    if (inside === undefined) unknown ??= { name, nearest: findNearestWord(name, names) };
    return open.slice(1) + (inside ?? name) + close.slice(1);
  });
  return unknown === undefined ? { template } : { unknown };
}

/** How a parameter is written for the broker; undefined for an unknown name. */
function getSymbol(name: string, names: readonly string[]): string | undefined {
  if (!names.includes(name)) return undefined;
  return names.length === 1 ? '{}' : `{=${name}}`;
}

/** Columns without a header are numbers, so that a number is a name there. */
function looksLikeName(text: string, names: readonly string[]): boolean {
  return /^[A-Za-z_]\w*$/.test(text) || (/^[1-9]\d*$/.test(text) && names.includes('1'));
}
