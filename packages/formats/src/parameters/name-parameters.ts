import { findNearestWord } from '@mutirao/core/shared';

/** A name in braces that is none of the parameters. */
export interface UnknownName {
  readonly name: string;
  readonly nearest: string | undefined;
}

/** A text for the broker, or what is wrong with it. */
export type NamedTemplate = { readonly template: string } | { readonly unknown: UnknownName };

/**
 * Turns `{name}` into what a broker takes for the parameter of that name, `{=name}`.
 *
 * `{{name}}` is the text `{name}`, and `${name}` stays: it is a variable of the shell. So does what cannot be meant as a
 * name, such as `{print $1}` and `{2}`. Where there is only one parameter, it is the value of the task, `{}`.
 */
export function nameParameters(text: string, names: readonly string[]): NamedTemplate {
  const [only] = names;
  const isSingle = names.length === 1;
  let unknown: UnknownName | undefined;
  const template = text.replace(
    /(\$?)(\{+)([^{}\n]+)(\}+)/g,
    (whole, dollar: string, open: string, name: string, close: string) => {
      if (dollar !== '') return whole;
      const depth = Math.min(open.length, close.length);
      const isKnown = names.includes(name);
      if (!isKnown && !looksLikeName(name, names)) return whole;
      if (depth > 1) return open.slice(1) + name + close.slice(1);
      if (!isKnown) {
        unknown ??= { name, nearest: findNearestWord(name, names) };
        return whole;
      }
      const symbol = isSingle && name === only ? '{}' : `{=${name}}`;
      return open.slice(1) + symbol + close.slice(1);
    },
  );
  return unknown === undefined ? { template } : { unknown };
}

/** Columns without a header are numbers, so that a number is a name there. */
function looksLikeName(text: string, names: readonly string[]): boolean {
  return /^[A-Za-z_]\w*$/.test(text) || (/^[1-9]\d*$/.test(text) && names.includes('1'));
}
